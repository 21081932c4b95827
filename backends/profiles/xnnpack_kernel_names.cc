#include "backends/profiles/xnnpack_kernel_names.h"

#include <algorithm>
#include <cctype>

namespace vitrine::xnnpack {
namespace {

// The ops that each XNNPACK kernel may run. `kernel` is the beginning of a name that
// xnn_operator_type_to_string returns. This list is not derived from the node types in
// backends/xnnpack/runtime/reader/operators.inc: XNNPACK runs a 1x1 convolution with "Fully
// Connected", versions of XNNPACK name a kernel differently, and ExecuTorch's partitioner delegates
// more operators.
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
    {"Vitrine Average Pooling", "avg_pool2d"},
    {"Vitrine Batch Norm", "_native_batch_norm_legit_no_training"},
    {"Vitrine Batch Norm", "convolution"},
    {"Vitrine Bilinear Resize", "upsample_bilinear2d"},
    {"Vitrine Binary Elementwise with a Repeated Row", "add"},
    {"Vitrine Binary Elementwise with a Repeated Row", "div"},
    {"Vitrine Binary Elementwise with a Repeated Row", "maximum"},
    {"Vitrine Binary Elementwise with a Repeated Row", "minimum"},
    {"Vitrine Binary Elementwise with a Repeated Row", "mul"},
    {"Vitrine Binary Elementwise with a Repeated Row", "prelu"},
    {"Vitrine Binary Elementwise with a Repeated Row", "sub"},
    {"Vitrine Convolution with Few Outputs", "convolution"},
    {"Vitrine Convolution of Window Lines", "convolution"},
    {"Vitrine Cosine", "cos"},
    {"Vitrine Depthwise Convolution", "convolution"},
    {"Vitrine Exponential", "exp"},
    {"Vitrine Fully Connected", "addmm"},
    {"Vitrine Fully Connected", "linear"},
    {"Vitrine Fully Connected", "mm"},
    {"Vitrine Matrix Product", "bmm"},
    {"Vitrine Matrix-Vector Product", "bmm"},
    {"Vitrine Max Pooling", "max_pool2d"},
    {"Vitrine Max Pooling", "max_pool2d_with_indices"},
    {"Vitrine Pointwise Convolution", "convolution"},
    {"Vitrine Sine", "sin"},
    {"Vitrine Softmax", "_softmax"},
    {"Vitrine Winograd Convolution", "convolution"},
};
// Kernels whose names do not say which elementwise function they compute.
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

// Kernels of matrix products. If the full name contains an algorithm, such as "GEMM", the short
// name has the algorithm instead of these words.
constexpr std::string_view kProducts[] = {"Batch Matrix Multiply", "Convolution",
                                          "Dynamic Fully Connected", "Fully Connected"};

// Returns the data types of "NC, QDU8, F32, QB4W" as "qdu8-f32-qb4w". "NC" is the layout.
std::string data_types(std::string_view items) {
  std::string types;
  for (size_t comma = items.find(','); comma != std::string_view::npos; comma = items.find(',')) {
    items.remove_prefix(comma + 1);
    const std::string_view item = items.substr(0, items.find(','));
    if (!types.empty()) types += '-';
    for (const char c : item) {
      if (c != ' ') types += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return types;
}

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

std::string short_kernel_name(std::string_view kernel) {
  const size_t open = kernel.find(" (");
  const size_t close = kernel.find(')', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::string(kernel);
  const std::string_view operation = kernel.substr(0, open);
  std::string_view rest = kernel.substr(close + 1);  // for example " GEMM #2"
  const bool has_algorithm = rest.size() > 1 && rest[1] != '#';
  const bool is_implied = has_algorithm && std::ranges::count(kProducts, operation) != 0;
  std::string name(is_implied ? "" : operation);
  if (is_implied) rest.remove_prefix(1);
  const std::string types = data_types(kernel.substr(open + 2, close - open - 2));
  const size_t number = std::min(rest.find(" #"), rest.size());
  name += rest.substr(0, number);
  if (!types.empty()) name += ' ' + types;
  return name.append(rest.substr(number));
}

bool is_transposition(std::string_view kernel) { return kernel.starts_with("Transpose"); }

}  // namespace vitrine::xnnpack
