#include "test/backends/xnnpack/payload_builder.h"

#include <string>
#include <utility>

namespace vitrine::test {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;

void append(std::vector<std::byte>& to, const void* data, size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  to.insert(to.end(), bytes, bytes + size);
}

}  // namespace

uint32_t PayloadBuilder::internal(std::vector<uint32_t> dims, Type type,
                                  std::optional<PerTensor> quant) {
  PayloadValue spec;
  spec.type = type;
  spec.dims = std::move(dims);
  spec.id = static_cast<uint32_t>(values.size());
  spec.per_tensor = quant;
  values.push_back(spec);
  return spec.id;
}

uint32_t PayloadBuilder::input(std::vector<uint32_t> dims, Type type,
                               std::optional<PerTensor> quant) {
  const uint32_t id = internal(std::move(dims), type, quant);
  values[id].external_id = external_count++;
  values[id].flags = 1;
  return id;
}

uint32_t PayloadBuilder::output(std::vector<uint32_t> dims, Type type,
                                std::optional<PerTensor> quant) {
  const uint32_t id = input(std::move(dims), type, quant);
  values[id].flags = 2;
  return id;
}

uint32_t PayloadBuilder::dynamically_quantized(uint32_t in, int32_t nonbatch_dims) {
  const uint32_t id = internal(values[in].dims, Type::xnn_datatype_qdint8);
  values[id].nonbatch_dims = nonbatch_dims;
  unary(Tag::XNNConvert, in, id);
  return id;
}

template <class Create>
void PayloadBuilder::add_node(Tag tag, Create create, std::optional<Bounds> bounds) {
  nodes_.push_back({tag, bounds, [=](Builder& b) { return create(b).Union(); }});
}

void PayloadBuilder::unary(Tag tag, uint32_t in, uint32_t out, uint32_t flags) {
  add_node(tag, [=](Builder& b) { return fb::CreateNode1x1(b, in, out, flags); });
}

void PayloadBuilder::binary(Tag tag, uint32_t a, uint32_t b, uint32_t out,
                            std::optional<Bounds> bounds) {
  add_node(
      tag, [=](Builder& builder) { return fb::CreateNode2x1(builder, a, b, out); }, bounds);
}

void PayloadBuilder::clamp(uint32_t in, uint32_t out, Bounds bounds) {
  add_node(
      Tag::XNNClamp, [=](Builder& b) { return fb::CreateNode1x1(b, in, out); }, bounds);
}

void PayloadBuilder::elu(uint32_t in, uint32_t out, float alpha) {
  add_node(Tag::XNNELU, [=](Builder& b) { return fb::CreateNodeELU(b, alpha, in, out); });
}

void PayloadBuilder::leaky_relu(uint32_t in, uint32_t out, float slope) {
  add_node(Tag::XNNLeakyReLU,
           [=](Builder& b) { return fb::CreateNodeLeakyReLU(b, slope, in, out); });
}

void PayloadBuilder::attention(const std::vector<uint32_t>& in, uint32_t out) {
  add_node(Tag::XNNScaledDotProductAttention, [=](Builder& b) {
    return fb::CreateNodeScaledDotProductAttention(b, in[0], in[1], in[2], in[3], in[4], out);
  });
}

void PayloadBuilder::fully_connected(uint32_t in, uint32_t filter, uint32_t bias, uint32_t out,
                                     uint32_t flags, std::optional<Bounds> bounds) {
  const auto create = [=](Builder& b) {
    return fb::CreateNodeFullyConnected(b, in, filter, bias, out, flags);
  };
  add_node(Tag::XNNFullyConnected, create, bounds);
}

void PayloadBuilder::convolution(Tag tag, const WindowSpec& w, uint32_t in, uint32_t filter,
                                 uint32_t bias, uint32_t out, std::optional<Bounds> bounds) {
  const auto create = [=](Builder& b) {
    return fb::CreateNodeConv(b, w.top, w.right, w.bottom, w.left, w.kernel_height, w.kernel_width,
                              w.stride_height, w.stride_width, w.dilation_height, w.dilation_width,
                              w.group_in, w.group_out, w.groups, w.adjustment_height,
                              w.adjustment_width, in, filter, bias, out);
  };
  add_node(tag, create, bounds);
}

void PayloadBuilder::pooling(Tag tag, const WindowSpec& w, uint32_t in, uint32_t out,
                             uint32_t flags) {
  add_node(tag, [=](Builder& b) {
    return fb::CreateNodePooling2D(b, w.top, w.right, w.bottom, w.left, w.kernel_height,
                                   w.kernel_width, w.stride_height, w.stride_width,
                                   w.dilation_height, w.dilation_width, in, out, flags);
  });
}

void PayloadBuilder::argmax(const WindowSpec& w, uint32_t in, uint32_t out, uint32_t index) {
  add_node(Tag::XNNArgMaxPooling2d, [=](Builder& b) {
    return fb::CreateNodeArgMaxPooling2d(b, w.top, w.right, w.bottom, w.left, w.kernel_height,
                                         w.kernel_width, in, out, index);
  });
}

void PayloadBuilder::transpose(const std::vector<uint32_t>& perm, uint32_t in, uint32_t out) {
  add_node(Tag::XNNStaticTranspose, [=](Builder& b) {
    const auto rank = static_cast<uint32_t>(perm.size());
    return fb::CreateNodeStaticTransposeDirect(b, rank, &perm, in, out);
  });
}

void PayloadBuilder::reshape(const std::vector<uint32_t>& shape, uint32_t in, uint32_t out) {
  add_node(Tag::XNNStaticReshape, [=](Builder& b) {
    const auto rank = static_cast<uint32_t>(shape.size());
    return fb::CreateNodeStaticReshapeDirect(b, rank, &shape, in, out);
  });
}

void PayloadBuilder::slice(const std::vector<uint32_t>& offsets, const std::vector<uint32_t>& sizes,
                           uint32_t in, uint32_t out) {
  add_node(Tag::XNNStaticSlice, [=](Builder& b) {
    const auto rank = static_cast<uint32_t>(sizes.size());
    return fb::CreateNodeStaticSliceDirect(b, rank, &offsets, &sizes, in, out);
  });
}

void PayloadBuilder::pad(const std::vector<uint32_t>& before, const std::vector<uint32_t>& after,
                         float value, uint32_t in, uint32_t out) {
  add_node(Tag::XNNStaticConstantPad, [=](Builder& b) {
    return fb::CreateNodeStaticConstantPadDirect(b, &before, &after, value, in, out);
  });
}

void PayloadBuilder::resize(uint32_t height, uint32_t width, uint32_t in, uint32_t out,
                            uint32_t flags) {
  add_node(Tag::XNNStaticResizeBilinear2D, [=](Builder& b) {
    return fb::CreateNodeStaticResizeBilinear2D(b, height, width, in, out, flags);
  });
}

void PayloadBuilder::concatenate(Tag tag, uint32_t axis, std::vector<uint32_t> inputs,
                                 uint32_t out) {
  inputs.resize(5, kInvalidId);
  add_node(tag, [=](Builder& b) {
    return fb::CreateNodeCat(b, axis, inputs[0], inputs[1], inputs[2], inputs[3], out, 0,
                             inputs[4]);
  });
}

flatbuffers::Offset<fb::XValue> PayloadBuilder::make_value(Builder& out, const PayloadValue& spec) {
  const auto tensor = fb::CreateXNNTensorValueDirect(
      out, spec.type, static_cast<uint32_t>(spec.dims.size()), &spec.dims, spec.constant,
      spec.external_id, spec.flags, spec.id, spec.dq_type);
  auto kind = fb::XNNQuantParams::NONE;
  flatbuffers::Offset<void> params;
  if (spec.per_tensor.has_value()) {
    kind = fb::XNNQuantParams::PerTensorQuant;
    params =
        fb::CreatePerTensorQuant(out, spec.per_tensor->scale, spec.per_tensor->zero_point).Union();
  } else if (spec.per_channel.has_value()) {
    kind = fb::XNNQuantParams::PerChannelQuant;
    params = fb::CreatePerChannelQuantDirect(out, &spec.per_channel->scales,
                                             spec.per_channel->channel_dim, spec.scale_constant,
                                             spec.scale_count)
                 .Union();
  } else if (spec.per_block.has_value()) {
    kind = fb::XNNQuantParams::PerChannelGroupQuant;
    fb::PerChannelGroupQuantBuilder quant(out);
    quant.add_group_size(spec.per_block->group_size);
    quant.add_scale_buffer_idx(spec.scale_constant);
    quant.add_num_scales(spec.scale_count);
    params = quant.Finish().Union();
  } else if (spec.nonbatch_dims.has_value()) {
    kind = fb::XNNQuantParams::PerTokenDynamicQuant;
    params = fb::CreatePerTokenDynamicQuant(out, *spec.nonbatch_dims).Union();
  } else {
    return fb::CreateXValue(out, fb::XValueUnion::XNNTensorValue, tensor.Union());
  }
  const auto quantized = fb::CreateXNNQuantizedTensorValue(out, tensor, kind, params);
  return fb::CreateXValue(out, fb::XValueUnion::XNNQuantizedTensorValue, quantized.Union());
}

std::vector<std::byte> PayloadBuilder::build() {
  Builder b;
  std::vector<flatbuffers::Offset<fb::XValue>> value_tables;
  for (const PayloadValue& value : values) value_tables.push_back(make_value(b, value));
  std::vector<flatbuffers::Offset<fb::XNode>> node_tables;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const flatbuffers::Offset<void> node = nodes_[i].make(b);
    flatbuffers::Offset<fb::OutputMinMax> bounds;
    if (nodes_[i].bounds.has_value()) {
      bounds = fb::CreateOutputMinMax(b, nodes_[i].bounds->min, nodes_[i].bounds->max);
    }
    const uint32_t handle = i < handles.size() ? handles[i] : static_cast<uint32_t>(i + 1);
    node_tables.push_back(fb::CreateXNode(b, nodes_[i].tag, node, handle, bounds));
  }

  std::vector<std::byte> region;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers;
  std::vector<flatbuffers::Offset<fb::ConstantDataOffset>> entries;
  if (where_ == Constants::kInFlatbuffer) {
    buffers.push_back(fb::CreateBuffer(b));
    for (const std::vector<uint8_t>& bytes : constants) {
      b.ForceVectorAlignment(bytes.size(), 1, 16);
      buffers.push_back(fb::CreateBuffer(b, b.CreateVector(bytes)));
    }
  } else {
    entries.push_back(fb::CreateConstantDataOffsetDirect(b, 0, 0, nullptr));
    for (size_t i = 0; i < constants.size(); ++i) {
      if (where_ == Constants::kNamed) {
        const std::string key =
            shared_key.empty() ? constant_key(static_cast<uint32_t>(i + 1)) : shared_key;
        entries.push_back(fb::CreateConstantDataOffset(b, UINT64_MAX, constants[i].size(),
                                                       b.CreateSharedString(key)));
        continue;
      }
      region.resize((region.size() + 15) / 16 * 16);
      entries.push_back(fb::CreateConstantDataOffset(b, region.size(), constants[i].size()));
      append(region, constants[i].data(), constants[i].size());
    }
  }
  const auto graph = fb::CreateXNNGraphDirect(b, "0", &node_tables, &value_tables, external_count,
                                              nullptr, nullptr, &buffers, nullptr, &entries);
  b.Finish(graph, where_ == Constants::kInFlatbuffer ? "XN00" : "XN01");

  std::vector<std::byte> payload;
  if (where_ != Constants::kInFlatbuffer) {
    const uint16_t header_size = 30;
    const uint32_t flatbuffer_offset = 32;
    const uint32_t flatbuffer_size = b.GetSize();
    const uint32_t region_offset = flatbuffer_offset + (flatbuffer_size + 15) / 16 * 16;
    const uint64_t region_size = region.size();
    append(payload, "\0\0\0\0XH00", 8);
    append(payload, &header_size, 2);
    append(payload, &flatbuffer_offset, 4);
    append(payload, &flatbuffer_size, 4);
    append(payload, &region_offset, 4);
    append(payload, &region_size, 8);
    payload.resize(flatbuffer_offset);
    append(payload, b.GetBufferPointer(), b.GetSize());
    payload.resize(region_offset);
    append(payload, region.data(), region.size());
  } else {
    append(payload, b.GetBufferPointer(), b.GetSize());
  }
  return payload;
}

PayloadBuilder square_plus(const std::vector<uint32_t>& dims) {
  PayloadBuilder b;
  const uint32_t x = b.input(dims), square = b.internal(dims), y = b.output(dims);
  b.binary(Tag::XNNMultiply, x, x, square);
  b.binary(Tag::XNNAdd, square, x, y);
  return b;
}

}  // namespace vitrine::test
