#include "inspector/join/order_match.h"

#include <algorithm>
#include <cstdint>

namespace vitrine::inspector {
namespace {

// Kernels by the beginning of their names, as xnn_operator_type_to_string has them.
struct KernelOp {
  std::string_view kernel, op;
};
constexpr KernelOp kKernelOps[] = {
    {"Abs", "abs"},
    {"Add", "add"},
    {"Average Pooling", "avg_pool2d"},
    {"Bankers Rounding", "round"},
    {"Batch Matrix Multiply", "bmm"},
    {"Binary Elementwise", "add"},
    {"Binary Elementwise", "div"},
    {"Binary Elementwise", "maximum"},
    {"Binary Elementwise", "minimum"},
    {"Binary Elementwise", "mul"},
    {"Binary Elementwise", "prelu"},
    {"Binary Elementwise", "sub"},
    {"Ceiling", "ceil"},
    {"Clamp", "clamp"},
    {"Clamp", "hardtanh"},
    {"Clamp", "relu"},
    {"Concatenate", "cat"},
    {"Constant Pad", "constant_pad_nd"},
    {"Convert", "dequantize_affine"},
    {"Convert", "dequantize_per_tensor"},
    {"Convert", "quantize_affine"},
    {"Convert", "quantize_per_tensor"},
    {"Convert", "quantize_per_token"},
    {"Convolution", "convolution"},
    {"Copy", "_clone_dim_order"},
    {"Copy", "cat"},
    {"Copy", "clone"},
    {"Copy", "squeeze_copy"},
    {"Copy", "unsqueeze_copy"},
    {"Copy", "view_copy"},
    {"Deconvolution", "convolution"},
    {"Divide", "div"},
    {"Dynamic Fully Connected", "linear"},
    {"Dynamic Fully Connected", "mm"},
    {"ELU", "elu"},
    {"Floor", "floor"},
    {"Fully Connected", "addmm"},
    {"Fully Connected", "convolution"},
    {"Fully Connected", "linear"},
    {"Fully Connected", "mm"},
    {"GELU", "gelu"},
    {"Global Average Pooling", "mean"},
    {"HardSwish", "hardswish"},
    {"Leaky ReLU", "leaky_relu"},
    {"Max Pooling", "max_pool2d"},
    {"Max Pooling", "max_pool2d_with_indices"},
    {"Maximum", "maximum"},
    {"Mean", "mean"},
    {"Minimum", "minimum"},
    {"Multiply", "mul"},
    {"Negate", "neg"},
    {"PReLU", "prelu"},
    {"Reciprocal Square Root", "rsqrt"},
    {"Resize Bilinear", "upsample_bilinear2d"},
    {"Sigmoid", "sigmoid"},
    {"Slice", "slice_copy"},
    {"Softmax", "_softmax"},
    {"Square Root", "sqrt"},
    {"Square", "pow"},
    {"Static Reshape", "_clone_dim_order"},
    {"Static Reshape", "clone"},
    {"Static Reshape", "squeeze_copy"},
    {"Static Reshape", "unsqueeze_copy"},
    {"Static Reshape", "view_copy"},
    {"Subtract", "sub"},
    {"TanH", "tanh"},
    {"Transpose", "_to_dim_order_copy"},
    {"Transpose", "permute_copy"},
};
// Kernels whose name does not tell which element-wise function they compute.
constexpr std::string_view kUnaryKernels[] = {"Invalid Unary Op", "Unary Elementwise"};
constexpr std::string_view kUnaryOps[] = {"abs",
                                          "ceil",
                                          "clamp",
                                          "cos",
                                          "dequantize_per_tensor",
                                          "elu",
                                          "exp",
                                          "floor",
                                          "gelu",
                                          "hardswish",
                                          "hardtanh",
                                          "leaky_relu",
                                          "log",
                                          "neg",
                                          "pow",
                                          "quantize_per_tensor",
                                          "relu",
                                          "rsqrt",
                                          "sigmoid",
                                          "sin",
                                          "sqrt",
                                          "tanh"};
constexpr std::string_view kTransposition = "Transpose";

}  // namespace

bool may_run(std::string_view kernel, std::string_view op) {
  const auto begins = [&](std::string_view name) {
    return kernel.starts_with(name) && (kernel.size() == name.size() || kernel[name.size()] == ' ');
  };
  if (std::any_of(std::begin(kKernelOps), std::end(kKernelOps),
                  [&](const KernelOp& known) { return known.op == op && begins(known.kernel); })) {
    return true;
  }
  return std::any_of(std::begin(kUnaryKernels), std::end(kUnaryKernels), begins) &&
         std::find(std::begin(kUnaryOps), std::end(kUnaryOps), op) != std::end(kUnaryOps);
}

// The longest common subsequence, by dynamic programming over suffixes.
std::vector<OrderMatch> match_in_order(const std::vector<std::string_view>& kernels,
                                       const std::vector<std::string_view>& ops) {
  std::vector<OrderMatch> matches(kernels.size());
  if (kernels.empty() || ops.empty() || kernels.size() >= kMaxMatchCells / (ops.size() + 1)) {
    return matches;
  }
  const size_t width = ops.size() + 1;
  std::vector<uint32_t> best((kernels.size() + 1) * width);  // pairs from kernel k and op i on
  for (size_t k = kernels.size(); k-- > 0;) {
    for (size_t i = ops.size(); i-- > 0;) {
      uint32_t& here = best[k * width + i];
      here = std::max(best[(k + 1) * width + i], best[k * width + i + 1]);
      if (may_run(kernels[k], ops[i])) here = std::max(here, best[(k + 1) * width + i + 1] + 1);
    }
  }
  size_t i = 0;
  std::optional<size_t> before;
  for (size_t k = 0; k < kernels.size(); ++k) {
    // Where leaving the kernel out gives as many pairs, a transposition is left out: the lowering
    // inserts many.
    const auto pairs = [&](size_t kernel, size_t op) { return best[kernel * width + op]; };
    const bool is_transposition = kernels[k].starts_with(kTransposition);
    const bool is_needed = pairs(k, i) > pairs(k + 1, i);
    size_t op = i;
    while (op < ops.size() &&
           (!may_run(kernels[k], ops[op]) || pairs(k, i) != pairs(k + 1, op + 1) + 1)) {
      ++op;
    }
    if (op < ops.size() && (is_needed || !is_transposition)) {
      matches[k].op = op;
      before = op;
      i = op + 1;
    } else if (is_transposition) {
      matches[k].is_layout_change = true;
    } else if (before.has_value() && may_run(kernels[k], ops[*before])) {
      matches[k].op = before;
    }
  }
  return matches;
}

}  // namespace vitrine::inspector
