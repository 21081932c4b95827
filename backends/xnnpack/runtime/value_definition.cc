#include "backends/xnnpack/runtime/value_definition.h"

namespace vitrine::xnnpack {

xnn_status define_value(xnn_subgraph_t subgraph, const Value& value, const Shape& shape,
                        uint32_t external_id, uint32_t flags, uint32_t* id) {
  const xnn_datatype datatype = value.datatype->xnn;
  const size_t* dims = shape.dims.data();
  switch (value.datatype->quantization) {
    case Quantization::kNone:
      return xnn_define_tensor_value(subgraph, datatype, shape.rank, dims, value.data, external_id,
                                     flags, id);
    case Quantization::kPerTensor:
      return xnn_define_quantized_tensor_value(subgraph, datatype, value.zero_point, value.scale,
                                               shape.rank, dims, value.data, external_id, flags,
                                               id);
    case Quantization::kPerChannel:
      return xnn_define_channelwise_quantized_tensor_value_v2(
          subgraph, datatype, value.zero_point, reinterpret_cast<const float*>(value.scales),
          shape.rank, value.channel_dim, dims, value.data, external_id, flags, id);
    case Quantization::kPerToken:
      return xnn_define_dynamically_quantized_tensor_value(
          subgraph, datatype, shape.rank, value.nonbatch_dims, dims, external_id, flags, id);
    case Quantization::kPerBlock:
      return xnn_define_blockwise_quantized_tensor_value(
          subgraph, datatype, value.zero_point, reinterpret_cast<const uint16_t*>(value.scales),
          shape.rank, value.channel_dim, value.block_size, dims, value.data, external_id, flags,
          id);
  }
  return xnn_status_invalid_parameter;
}

}  // namespace vitrine::xnnpack
