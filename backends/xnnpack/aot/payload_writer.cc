#include "backends/xnnpack/aot/payload_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "backends/xnnpack/aot/node_members.h"
#include "backends/xnnpack/aot/sha256.h"

namespace vitrine::aot::xnnpack {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

constexpr size_t kHeaderBytes = 32;
constexpr size_t kRegionAlignment = 16;
constexpr uint32_t kIsInput = 1;
constexpr uint32_t kIsOutput = 2;

size_t padded(size_t size) {
  return (size + kRegionAlignment - 1) / kRegionAlignment * kRegionAlignment;
}

bool is_negative_zero(float number) { return number == 0 && std::signbit(number); }

template <class T>
SharedBytes bytes_of(const std::vector<T>& items) {
  auto bytes = std::make_shared<std::vector<std::byte>>(items.size() * sizeof(T));
  if (!items.empty()) std::memcpy(bytes->data(), items.data(), bytes->size());
  return bytes;
}

class Writer {
 public:
  explicit Writer(const PayloadGraph& graph) : graph_(graph) {
    // Entry 0 of the list of constants represents values that are not constants.
    constants_.push_back(fb::CreateConstantDataOffset(out_, 0, 0, out_.CreateString("")));
  }

  Payload write() {
    std::vector<Offset<fb::XValue>> values;
    for (uint32_t id = 0; id < graph_.values.size(); ++id) values.push_back(value(id));
    std::vector<Offset<fb::XNode>> nodes;
    for (const PayloadNode& each : graph_.nodes) nodes.push_back(node(each));
    std::vector<uint32_t> inputs = graph_.inputs;
    std::erase(inputs, kNoValue);
    std::vector<uint32_t> outputs;
    for (const PayloadOutput& output : graph_.outputs) outputs.push_back(output.value);
    const uint32_t externs = static_cast<uint32_t>(graph_.inputs.size() + graph_.outputs.size());
    const auto version = out_.CreateString("0");
    const auto node_list = out_.CreateVector(nodes);
    const auto value_list = out_.CreateVector(values);
    const auto input_list = out_.CreateVector(inputs);
    const auto output_list = out_.CreateVector(outputs);
    const auto constant_list = out_.CreateVector(constants_);
    fb::FinishXNNGraphBuffer(
        out_, fb::CreateXNNGraph(out_, version, node_list, value_list, externs, input_list,
                                 output_list, 0, 0, constant_list));
    return {framed(), std::move(named_data_)};
  }

 private:
  std::vector<std::byte> framed() const {
    const size_t size = out_.GetSize();
    std::vector<std::byte> bytes(kHeaderBytes + padded(size));
    const auto put = [&](size_t at, auto number) {
      std::memcpy(bytes.data() + at, &number, sizeof number);
    };
    std::memcpy(bytes.data() + 4, "XH00", 4);
    put(8, uint16_t{30});
    put(10, static_cast<uint32_t>(kHeaderBytes));
    put(14, static_cast<uint32_t>(size));
    put(18, static_cast<uint32_t>(bytes.size()));
    put(22, uint64_t{0});
    std::memcpy(bytes.data() + kHeaderBytes, out_.GetBufferPointer(), size);
    return bytes;
  }

  uint32_t constant(const SharedBytes& bytes, const char* prefix, const std::string& external_tag) {
    const std::string key = prefix + sha256_hex(*bytes);
    constants_.push_back(fb::CreateConstantDataOffset(out_, std::numeric_limits<uint64_t>::max(),
                                                      bytes->size(), out_.CreateString(key)));
    if (keys_.insert(key).second) named_data_.push_back({key, bytes, 16, external_tag});
    return static_cast<uint32_t>(constants_.size() - 1);
  }

  std::pair<fb::XNNQuantParams, Offset<void>> quantization(const PayloadValue& value) {
    if (const auto* tensor = std::get_if<PerTensor>(&value.quantization)) {
      return {fb::XNNQuantParams::PerTensorQuant,
              fb::CreatePerTensorQuant(out_, tensor->scale, tensor->zero_point).Union()};
    }
    if (const auto* channel = std::get_if<PerChannel>(&value.quantization)) {
      const uint32_t scales = constant(bytes_of(channel->scales), "scale_", value.external_tag);
      const auto none = out_.CreateVector(std::vector<float>());
      return {fb::XNNQuantParams::PerChannelQuant,
              fb::CreatePerChannelQuant(out_, none, channel->dim, scales,
                                        static_cast<uint32_t>(channel->scales.size()))
                  .Union()};
    }
    if (const auto* block = std::get_if<PerBlock>(&value.quantization)) {
      const uint32_t scales = constant(bytes_of(block->scales), "scale_", value.external_tag);
      const auto none = out_.CreateVector(std::vector<float>());
      return {fb::XNNQuantParams::PerChannelGroupQuant,
              fb::CreatePerChannelGroupQuant(out_, none, 0, block->size, 0, scales,
                                             static_cast<uint32_t>(block->scales.size()))
                  .Union()};
    }
    const auto& token = std::get<PerToken>(value.quantization);
    return {fb::XNNQuantParams::PerTokenDynamicQuant,
            fb::CreatePerTokenDynamicQuant(out_, token.nonbatch_dims).Union()};
  }

  Offset<fb::XValue> value(uint32_t id) {
    const PayloadValue& value = graph_.values[id];
    uint32_t flags = 0;
    uint32_t external = kNoValue;
    if (value.input) {
      external = *value.input;
      flags = kIsInput;
    } else if (value.output) {
      external = static_cast<uint32_t>(graph_.inputs.size()) + *value.output;
      flags = kIsOutput;
    }
    const uint32_t data = value.data == nullptr ? 0 : constant(value.data, "", value.external_tag);
    const auto dims = out_.CreateVector(value.dims);
    const auto tensor =
        fb::CreateXNNTensorValue(out_, value.datatype, static_cast<uint32_t>(value.dims.size()),
                                 dims, data, external, flags, id);
    if (std::holds_alternative<std::monostate>(value.quantization)) {
      return fb::CreateXValue(out_, fb::XValueUnion::XNNTensorValue, tensor.Union());
    }
    const auto [type, table] = quantization(value);
    return fb::CreateXValue(out_, fb::XValueUnion::XNNQuantizedTensorValue,
                            fb::CreateXNNQuantizedTensorValue(out_, tensor, type, table).Union());
  }

  Offset<fb::XNode> node(const PayloadNode& node) {
    const Bounds given = node.bounds.value_or(Bounds());
    // FlatBuffers omits fields that equal their default, and -0.0 equals 0.0.
    out_.ForceDefaults(is_negative_zero(node.parameter) || is_negative_zero(given.min) ||
                       is_negative_zero(given.max));
    const Offset<void> table = write_members(out_, node);
    const Offset<fb::OutputMinMax> bounds = node.bounds
                                                ? fb::CreateOutputMinMax(out_, given.min, given.max)
                                                : Offset<fb::OutputMinMax>();
    out_.ForceDefaults(false);
    return fb::CreateXNode(out_, node.kind, table, node.handle, bounds);
  }

  const PayloadGraph& graph_;
  FlatBufferBuilder out_;
  std::vector<Offset<fb::ConstantDataOffset>> constants_;
  std::set<std::string> keys_;
  std::vector<NamedData> named_data_;
};

}  // namespace

Payload write_payload(const PayloadGraph& graph) { return Writer(graph).write(); }

DelegateMap delegate_map(const PayloadGraph& graph) {
  std::map<uint32_t, std::set<uint32_t>> handles;
  std::vector<uint32_t> order;
  for (const PayloadNode& node : graph.nodes) {
    if (!handles.contains(node.handle)) order.push_back(node.handle);
    handles[node.handle].insert(node.handles.begin(), node.handles.end());
  }
  DelegateMap map;
  for (const uint32_t identifier : order) {
    const std::set<uint32_t>& found = handles[identifier];
    if (!found.empty()) map.emplace_back(identifier, std::vector(found.begin(), found.end()));
  }
  return map;
}

}  // namespace vitrine::aot::xnnpack
