#include "backends/xnnpack/runtime/reader/value_reader.h"
#include "backends/xnnpack/runtime/reader/invalid_payload.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vitrine::xnnpack {
namespace {

namespace fb = schema::xnnpack;

Error read_shape(const fb::XNNTensorValue& from, Shape& shape) {
  const auto* dims = from.dims();
  if (dims == nullptr || dims->size() == 0 || dims->size() > kMaxDims) {
    return invalid_payload("dims has %u entries, not 1 to %zu", dims == nullptr ? 0 : dims->size(),
                           kMaxDims);
  }
  shape.rank = dims->size();
  for (uint32_t i = 0; i < dims->size(); ++i) {
    shape[i] = dims->Get(i);
    if (shape[i] == 0) return invalid_payload("dims[%u] is 0", i);
  }
  return Error();
}

Error read_external(const fb::XNNTensorValue& from, uint32_t external_count, Value& value) {
  constexpr uint32_t kKnownFlags = XNN_VALUE_FLAG_EXTERNAL_INPUT | XNN_VALUE_FLAG_EXTERNAL_OUTPUT;
  if ((from.flags() & ~kKnownFlags) != 0) return invalid_payload("flags are 0x%x", from.flags());
  value.is_input = (from.flags() & XNN_VALUE_FLAG_EXTERNAL_INPUT) != 0;
  value.is_output = (from.flags() & XNN_VALUE_FLAG_EXTERNAL_OUTPUT) != 0;
  value.external_id = from.external_id();
  const bool external = value.is_input || value.is_output;
  if (value.is_input && value.is_output)
    return invalid_payload("is both input and output of the delegate");
  if (!external && value.external_id != kNone) {
    return invalid_payload("has external_id %u, but is neither an input nor an output",
                           value.external_id);
  }
  if (!external) return Error();
  if (value.external_id >= external_count) {
    return invalid_payload("external_id is %u, but num_externs is %u", value.external_id,
                           external_count);
  }
  if (value.is_constant())
    return invalid_payload("a constant cannot be an argument of the delegate");
  if (!value.datatype->argument.has_value()) {
    return invalid_payload("an argument of the delegate cannot be %s", value.datatype->name);
  }
  return Error();
}

Error read_per_tensor(const fb::PerTensorQuant& from, Value& value) {
  value.scale = from.scale();
  value.zero_point = from.zero_point();
  if (!std::isnormal(value.scale) || value.scale <= 0) {
    return invalid_payload("scale %g is not positive and normal", static_cast<double>(value.scale));
  }
  if (value.zero_point < value.datatype->min_zero_point ||
      value.zero_point > value.datatype->max_zero_point) {
    return invalid_payload("zero_point %d is out of range for %s", value.zero_point,
                           value.datatype->name);
  }
  return Error();
}

Error read_per_channel(const fb::PerChannelQuant& from, Value& value) {
  if (from.channel_dim() < 0 || static_cast<size_t>(from.channel_dim()) >= value.shape.rank) {
    return invalid_payload("channel_dim is %d, but the rank is %zu", from.channel_dim(),
                           value.shape.rank);
  }
  value.channel_dim = static_cast<uint32_t>(from.channel_dim());
  value.zero_point = value.datatype->min_zero_point;
  value.scale_constant = from.scale_buffer_idx();
  if (value.scale_constant != 0) {
    value.scale_count = from.num_scales();
  } else if (from.scale() != nullptr) {
    value.scales = reinterpret_cast<const std::byte*>(from.scale()->Data());
    value.scale_count = from.scale()->size();
  }
  if (value.scale_count != value.shape[value.channel_dim]) {
    return invalid_payload("%u scales for %zu channels", value.scale_count,
                           value.shape[value.channel_dim]);
  }
  return Error();
}

// The first writer of this format rounds in this way: it multiplies by a factor, then truncates.
uint16_t to_bfloat16(float value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(value * 1.00389105f) >> 16);
}

Error read_per_block(const fb::PerChannelGroupQuant& from, Value& value) {
  if (value.shape.rank != 2)
    return invalid_payload("group-wise quantization needs rank 2, but the rank is %zu",
                           value.shape.rank);
  if (from.channel_dim() != 0)
    return invalid_payload("channel_dim %d is not 0", from.channel_dim());
  if (from.group_size() < XNN_MIN_BLOCKSIZE || from.group_size() % XNN_MIN_BLOCKSIZE != 0) {
    return invalid_payload("group_size %d is not a multiple of %d", from.group_size(),
                           XNN_MIN_BLOCKSIZE);
  }
  value.block_size = static_cast<uint32_t>(from.group_size());
  value.zero_point = value.datatype->min_zero_point;
  if (value.shape[1] % value.block_size != 0) {
    return invalid_payload("%zu input channels are not a multiple of group_size %u", value.shape[1],
                           value.block_size);
  }
  value.scale_constant = from.scale_buffer_idx();
  if (value.scale_constant != 0) {
    value.scale_count = from.num_scales();
  } else if (from.scale_bf16() != nullptr) {
    value.scales = reinterpret_cast<const std::byte*>(from.scale_bf16()->Data());
    value.scale_count = from.scale_bf16()->size();
  } else if (from.scale() != nullptr) {
    value.scale_count = from.scale()->size();
  }
  if (value.scale_count != value.shape[0] * (value.shape[1] / value.block_size)) {
    return invalid_payload("%u scales for %zu rows of %zu groups", value.scale_count,
                           value.shape[0], value.shape[1] / value.block_size);
  }
  if (value.scale_constant == 0 && value.scales == nullptr && from.scale() != nullptr) {
    VITRINE_RETURN_IF_ERROR(value.rounded_scales.resize(value.scale_count));
    std::ranges::transform(*from.scale(), value.rounded_scales.begin(), to_bfloat16);
  }
  return Error();
}

Error read_per_token(const fb::PerTokenDynamicQuant& from, Value& value) {
  if (from.num_nonbatch_dims() < 1 ||
      static_cast<size_t>(from.num_nonbatch_dims()) > value.shape.rank) {
    return invalid_payload("num_nonbatch_dims is %d, but the rank is %zu", from.num_nonbatch_dims(),
                           value.shape.rank);
  }
  if (value.is_constant()) return invalid_payload("is dynamically quantized, but it is a constant");
  value.nonbatch_dims = static_cast<uint32_t>(from.num_nonbatch_dims());
  return Error();
}

Error read_quantization(const fb::XNNQuantizedTensorValue& from, Value& value) {
  if (from.quant_params() == nullptr) return invalid_payload("quant_params are missing");
  const char* mismatch = "the type of quant_params does not match %s";
  switch (value.datatype->quantization) {
    case Quantization::kPerTensor:
      if (const auto* params = from.quant_params_as_PerTensorQuant()) {
        return read_per_tensor(*params, value);
      }
      break;
    case Quantization::kPerChannel:
      if (const auto* params = from.quant_params_as_PerChannelQuant()) {
        return read_per_channel(*params, value);
      }
      break;
    case Quantization::kPerBlock:
      if (const auto* params = from.quant_params_as_PerChannelGroupQuant()) {
        return read_per_block(*params, value);
      }
      break;
    case Quantization::kPerToken:
      if (const auto* params = from.quant_params_as_PerTokenDynamicQuant()) {
        return read_per_token(*params, value);
      }
      break;
    case Quantization::kNone:
      break;
  }
  return invalid_payload(mismatch, value.datatype->name);
}

}  // namespace

Result<Value> read_value(const fb::XValue& from, uint32_t external_count) {
  const fb::XNNTensorValue* tensor = from.xvalue_union_as_XNNTensorValue();
  const fb::XNNQuantizedTensorValue* quantized = from.xvalue_union_as_XNNQuantizedTensorValue();
  if (quantized != nullptr) tensor = quantized->tensor_value();
  if (tensor == nullptr) return invalid_payload("has no tensor");

  Value value;
  value.id = tensor->id_out();
  value.is_bf16 = tensor->datatype() == fb::XNNDatatype::xnn_datatype_bf16;
  value.datatype =
      find_datatype(value.is_bf16 ? fb::XNNDatatype::xnn_datatype_fp32 : tensor->datatype());
  if (value.datatype == nullptr) {
    return Error::make(ErrorCode::kNotSupported,
                       "datatype %d (%s) is not supported; packed datatypes need the XNNPACK of "
                       "ExecuTorch 1.4, built with KleidiAI",
                       static_cast<int>(tensor->datatype()),
                       fb::EnumNameXNNDatatype(tensor->datatype()));
  }
  VITRINE_RETURN_IF_ERROR(read_shape(*tensor, value.shape));
  if (!tensor_bytes(*value.datatype, value.shape).has_value()) {
    return invalid_payload("the size in bytes overflows");
  }
  value.constant = tensor->constant_buffer_idx();
  VITRINE_RETURN_IF_ERROR(read_external(*tensor, external_count, value));
  if (tensor->dq_datatype() != fb::XNNDatatype::xnn_datatype_invalid) {
    if (tensor->dq_datatype() != fb::XNNDatatype::xnn_datatype_qint8 || !value.is_input ||
        quantized != nullptr) {
      return invalid_payload(
          "dq_datatype is %d; only unquantized inputs may have one, and it must be qint8",
          static_cast<int>(tensor->dq_datatype()));
    }
    value.quantized_on_entry = true;
  }
  if (quantized != nullptr) {
    VITRINE_RETURN_IF_ERROR(read_quantization(*quantized, value));
  } else if (value.datatype->quantization != Quantization::kNone) {
    return invalid_payload("%s needs quantization parameters", value.datatype->name);
  }
  return value;
}

}  // namespace vitrine::xnnpack
