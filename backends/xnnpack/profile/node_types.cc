#include "backends/xnnpack/profile/node_types.h"

#include <algorithm>

namespace vitrine::xnnpack {
namespace {

struct Origin {
  std::string_view type, op;
};
constexpr Origin kOrigins[] = {
    {"Abs", "abs"},
    {"Add", "add"},
    {"ArgMaxPooling2d", "max"},
    {"AvgPooling2d", "avg_pool2d"},
    {"BatchMatrixMultiply", "bmm"},
    {"Ceiling", "ceil"},
    {"Clamp", "clamp"},
    {"Clamp", "hardtanh"},
    {"Clamp", "relu"},
    {"Concatenate2", "cat"},
    {"Concatenate3", "cat"},
    {"Concatenate4", "cat"},
    {"Concatenate5", "cat"},
    {"Conv2d", "convolution"},
    {"ConvTranspose2d", "convolution"},
    {"Convert", "dequantize_affine"},
    {"Convert", "dequantize_per_tensor"},
    {"Convert", "quantize_affine"},
    {"Convert", "quantize_per_tensor"},
    {"Convert", "quantize_per_token"},
    {"Copy", "_clone_dim_order"},
    {"Copy", "clone"},
    {"Cos", "cos"},
    {"DepthwiseConv2d", "convolution"},
    {"Div", "div"},
    {"ELU", "elu"},
    {"Exp", "exp"},
    {"Floor", "floor"},
    {"FullyConnected", "addmm"},
    {"FullyConnected", "linear"},
    {"FullyConnected", "mm"},
    {"Gelu", "gelu"},
    {"GlobalAvgPooling2d", "mean"},
    {"Hardswish", "hardswish"},
    {"LeakyReLU", "leaky_relu"},
    {"Log", "log"},
    {"MaxPooling2d", "amax"},
    {"MaxPooling2d", "max_pool2d"},
    {"MaxPooling2d", "max_pool2d_with_indices"},
    {"Maximum", "maximum"},
    {"Minimum", "minimum"},
    {"Multiply", "mul"},
    {"Negate", "neg"},
    {"PReLU", "prelu"},
    {"ReciprocalSquareRoot", "rsqrt"},
    {"Sigmoid", "sigmoid"},
    {"Sin", "sin"},
    {"Softmax", "_softmax"},
    {"Square", "pow"},
    {"SquareRoot", "sqrt"},
    {"StaticConstantPad", "constant_pad_nd"},
    {"StaticReshape", "squeeze_copy"},
    {"StaticReshape", "unsqueeze_copy"},
    {"StaticReshape", "view_copy"},
    {"StaticResizeBilinear2D", "upsample_bilinear2d"},
    {"StaticSlice", "slice_copy"},
    {"StaticTranspose", "_to_dim_order_copy"},
    {"StaticTranspose", "permute_copy"},
    {"Subtract", "sub"},
    {"Tanh", "tanh"},
};

}  // namespace

bool is_op_of_node_type(std::string_view op, std::string_view type) {
  constexpr std::string_view kPrefix = "XNN";
  if (type.starts_with(kPrefix)) type.remove_prefix(kPrefix.size());
  return std::any_of(std::begin(kOrigins), std::end(kOrigins),
                     [&](const Origin& origin) { return origin.type == type && origin.op == op; });
}

}  // namespace vitrine::xnnpack
