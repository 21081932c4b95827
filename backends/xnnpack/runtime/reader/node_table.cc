#include "backends/xnnpack/runtime/reader/node_table.h"

#include "backends/xnnpack/runtime/reader/node_decoding.h"
#include "backends/xnnpack/runtime/reader/node_definition.h"
#include "backends/xnnpack/runtime/reader/operator_tables.h"
#include "backends/xnnpack/runtime/reader/shape_inference.h"

namespace vitrine::xnnpack {
namespace {

constexpr auto f32 = xnn_datatype_fp32;
constexpr auto f16 = xnn_datatype_fp16;
constexpr auto qs8 = xnn_datatype_qint8;
constexpr auto qu8 = xnn_datatype_quint8;
constexpr auto qs32 = xnn_datatype_qint32;
constexpr auto qc8 = xnn_datatype_qcint8;
constexpr auto qc32 = xnn_datatype_qcint32;
constexpr auto qc4 = xnn_datatype_qcint4;
constexpr auto qb4 = xnn_datatype_qbint4;
constexpr auto qd8 = xnn_datatype_qdint8;
constexpr auto s32 = xnn_datatype_int32;
constexpr auto none = xnn_datatype_invalid;  // the node must not have this input

constexpr Signature same(xnn_datatype t) { return {{t, t, t}, {t, t}}; }

constexpr Signature kFloat[] = {same(f32), same(f16)};
constexpr Signature kSame[] = {same(f32), same(f16), same(qs8), same(qu8)};
constexpr Signature kConvert[] = {
    {{f32}, {qs8}}, {{f32}, {qu8}}, {{f32}, {qd8}}, {{f32}, {f16}}, {{f16}, {qs8}}, {{f16}, {qd8}},
    {{f16}, {f32}}, {{qs8}, {f32}}, {{qs8}, {f16}}, {{qu8}, {f32}}, same(qs8),      same(qu8),
};
constexpr Signature kDepthwise[] = {
    {{f32, f32, f32}, {f32}},  {{f16, f32, f32}, {f16}},  {{qs8, qs8, qs32}, {qs8}},
    {{qs8, qc8, qc32}, {qs8}}, {{qu8, qu8, qs32}, {qu8}},
};
constexpr Signature kConvolution[] = {
    {{f32, f32, f32}, {f32}},  {{f16, f32, f32}, {f16}},  {{qs8, qs8, qs32}, {qs8}},
    {{qs8, qc8, qc32}, {qs8}}, {{qu8, qu8, qs32}, {qu8}}, {{qd8, qc8, f32}, {f32}},
    {{qd8, qc8, f32}, {f16}},
};
constexpr Signature kTransposedConvolution[] = {
    {{f32, f32, f32}, {f32}},  {{f16, f32, f32}, {f16}},  {{qs8, qs8, qs32}, {qs8}},
    {{qs8, qc8, qc32}, {qs8}}, {{qu8, qu8, qs32}, {qu8}}, {{qd8, qc8, f32}, {f32}},
};
// A node with a float input and quantized weights must not have a bias: XNNPACK 4ea82e5 would
// multiply the bias by the scales of the weights.
constexpr Signature kFullyConnected[] = {
    {{f32, f32, f32}, {f32}},  {{f16, f16, f16}, {f16}},  {{f16, f32, f32}, {f16}},
    {{f32, qc4, none}, {f32}}, {{f32, qc8, none}, {f32}}, {{qs8, qs8, qs32}, {qs8}},
    {{qs8, qc8, qc32}, {qs8}}, {{qu8, qu8, qs32}, {qu8}}, {{qd8, qc8, f32}, {f32}},
    {{qd8, qc8, f32}, {f16}},  {{qd8, qc4, f32}, {f32}},  {{qd8, qc4, f32}, {f16}},
    {{qd8, qb4, f32}, {f32}},  {{qd8, qb4, f32}, {f16}},
};
constexpr Signature kArgMax[] = {{{f32}, {f32, s32}}};

constexpr NodeKind unary(const char* name, int operation) {
  return {name, decode_1x1, kSame, shape_of_first, define_unary, operation};
}

constexpr NodeKind binary(const char* name, int operation, bool bounds) {
  return {.name = name,
          .decode = decode_2x1,
          .signatures = kSame,
          .infer_shape = shape_broadcast,
          .define = define_binary,
          .operation = operation,
          .accepts_bounds = bounds};
}

constexpr NodeKind concatenate(const char* name, DecodeNode decode) {
  return {name, decode, kSame, shape_concatenate, define_concatenate};
}

constexpr NodeKind convolution(const char* name, std::span<const Signature> signatures,
                               InferShape infer_shape, DefineNode define,
                               TablesOfNode tables = convolution_tables) {
  return {.name = name,
          .decode = decode_convolution,
          .signatures = signatures,
          .infer_shape = infer_shape,
          .define = define,
          .nonbatch_dims = 3,
          .accepts_bounds = true,
          .has_weights = true,
          .weights_must_be_constant = true,
          .has_window = true,
          .tables = tables};
}

constexpr NodeKind pooling(const char* name, DecodeNode decode, std::span<const Signature> types,
                           DefineNode define, InferShape infer_shape,
                           TablesOfNode tables = pooling_tables) {
  return {.name = name,
          .decode = decode,
          .signatures = types,
          .infer_shape = infer_shape,
          .define = define,
          .allowed_flags = XNN_FLAG_KEEP_DIMS,
          .accepts_bounds = true,
          .has_window = true,
          .tables = tables};
}

// The rows are in the order of XNodeUnion's tags, from 1.
constexpr NodeKind kNodeKinds[] = {
    binary("Add", xnn_binary_add, true),
    {.name = "FullyConnected",
     .decode = decode_fully_connected,
     .signatures = kFullyConnected,
     .infer_shape = shape_fully_connected,
     .define = define_fully_connected,
     .allowed_flags = XNN_FLAG_TRANSPOSE_WEIGHTS,
     .accepts_bounds = true,
     .has_weights = true},
    {"Softmax", decode_1x1, kFloat, shape_of_first, define_softmax},
    unary("Sigmoid", xnn_unary_sigmoid),
    {"StaticTranspose", decode_transpose, kSame, shape_transpose, define_transpose},
    {.name = "Clamp",
     .decode = decode_1x1,
     .signatures = kSame,
     .infer_shape = shape_of_first,
     .define = define_clamp,
     .operation = xnn_unary_clamp,
     .accepts_bounds = true},
    convolution("Conv2d", kConvolution, shape_convolution, define_convolution),
    binary("Div", xnn_binary_divide, true),
    {.name = "StaticResizeBilinear2D",
     .decode = decode_resize,
     .signatures = kSame,
     .infer_shape = shape_resize,
     .define = define_resize,
     .allowed_flags = XNN_FLAG_ALIGN_CORNERS,
     .tables = resize_tables},
    {"StaticConstantPad", decode_constant_pad, kSame, shape_constant_pad, define_constant_pad},
    pooling("AvgPooling2d", decode_average_pooling, kFloat, define_average_pooling, shape_pooling,
            average_pooling_tables),
    binary("Minimum", xnn_binary_minimum, false),
    convolution("DepthwiseConv2d", kDepthwise, shape_depthwise, define_depthwise),
    pooling("MaxPooling2d", decode_pooling, kSame, define_max_pooling, shape_max_pooling),
    binary("Multiply", xnn_binary_multiply, true),
    binary("Subtract", xnn_binary_subtract, true),
    unary("Floor", xnn_unary_floor),
    {"Convert", decode_1x1, kConvert, shape_of_first, define_unary, xnn_unary_convert},
    {.name = "GlobalAvgPooling2d",
     .decode = decode_1x1,
     .signatures = kSame,
     .infer_shape = shape_global_pooling,
     .define = define_global_average_pooling,
     .allowed_flags = XNN_FLAG_KEEP_DIMS,
     .tables = global_pooling_tables},
    {"StaticReshape", decode_reshape, kSame, shape_reshape, define_reshape},
    {.name = "ArgMaxPooling2d",
     .decode = decode_argmax_pooling,
     .signatures = kArgMax,
     .infer_shape = shape_pooling,
     .define = define_argmax_pooling,
     .allowed_flags = XNN_FLAG_KEEP_DIMS,
     .tables = argmax_pooling_tables},
    unary("SquareRoot", xnn_unary_square_root),
    unary("Ceiling", xnn_unary_ceiling),
    unary("Hardswish", xnn_unary_hardswish),
    {"LeakyReLU", decode_leaky_relu, kSame, shape_of_first, define_parametric_unary,
     xnn_unary_leaky_relu},
    binary("Maximum", xnn_binary_maximum, false),
    unary("Negate", xnn_unary_negate),
    unary("Square", xnn_unary_square),
    {"ELU", decode_elu, kSame, shape_of_first, define_parametric_unary, xnn_unary_elu},
    unary("Abs", xnn_unary_abs),
    binary("PReLU", xnn_binary_prelu, false),
    concatenate("Concatenate2", decode_cat<2>),
    concatenate("Concatenate3", decode_cat<3>),
    concatenate("Concatenate4", decode_cat<4>),
    {"StaticSlice", decode_slice, kSame, shape_slice, define_slice},
    {"ScaledDotProductAttention", decode_attention, kFloat, shape_attention, define_attention},
    {"BatchMatrixMultiply", decode_2x1, kFloat, shape_matrix_multiply, define_matrix_multiply},
    concatenate("Concatenate5", decode_cat<5>),
    convolution("ConvTranspose2d", kTransposedConvolution, shape_transposed_convolution,
                define_transposed_convolution, transposed_convolution_tables),
    unary("ReciprocalSquareRoot", xnn_unary_reciprocal_square_root),
    unary("Log", xnn_unary_log),
    unary("Gelu", xnn_unary_gelu),
    unary("Tanh", xnn_unary_tanh),
    unary("Exp", xnn_unary_exp),
    unary("Sin", xnn_unary_sine),
    {"Copy", decode_1x1, kSame, shape_of_first, define_copy},
    unary("Cos", xnn_unary_cosine),
};
static_assert(std::size(kNodeKinds) == static_cast<size_t>(schema::xnnpack::XNodeUnion::MAX));

}  // namespace

const NodeKind* find_node_kind(schema::xnnpack::XNodeUnion tag) {
  const size_t index = static_cast<size_t>(tag);
  return index >= 1 && index <= std::size(kNodeKinds) ? &kNodeKinds[index - 1] : nullptr;
}

}  // namespace vitrine::xnnpack
