// Decodes the payload's tables into Nodes. Each function handles one table layout. The functions
// check single fields, such as the lengths of lists and sizes that must not be zero.
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
// Ignores dilations, because payloads store 0 as the dilation of an average pooling.
Error decode_average_pooling(const void* table, Node& node);
Error decode_argmax_pooling(const void* table, Node& node);
Error decode_transpose(const void* table, Node& node);
Error decode_resize(const void* table, Node& node);
Error decode_constant_pad(const void* table, Node& node);
Error decode_reshape(const void* table, Node& node);
Error decode_slice(const void* table, Node& node);

}  // namespace vitrine::xnnpack
