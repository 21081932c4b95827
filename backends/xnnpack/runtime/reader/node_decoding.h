// Decodes the payload's tables into Nodes. Checks only single fields, such as list lengths.
#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

Error decode_1x1(const void* table, Node& node);
Error decode_2x1(const void* table, Node& node);
template <uint32_t kInputs>
Error decode_cat(const void* table, Node& node);
extern template Error decode_cat<2>(const void* table, Node& node);
extern template Error decode_cat<3>(const void* table, Node& node);
extern template Error decode_cat<4>(const void* table, Node& node);
extern template Error decode_cat<5>(const void* table, Node& node);
Error decode_elu(const void* table, Node& node);
Error decode_leaky_relu(const void* table, Node& node);
Error decode_fully_connected(const void* table, Node& node);
Error decode_attention(const void* table, Node& node);
Error decode_convolution(const void* table, Node& node);
Error decode_pooling(const void* table, Node& node);
// Ignores dilations: the payload's dilation of an average pooling is 0.
Error decode_average_pooling(const void* table, Node& node);
Error decode_argmax_pooling(const void* table, Node& node);
Error decode_transpose(const void* table, Node& node);
Error decode_resize(const void* table, Node& node);
Error decode_constant_pad(const void* table, Node& node);
Error decode_reshape(const void* table, Node& node);
Error decode_slice(const void* table, Node& node);

}  // namespace vitrine::xnnpack
