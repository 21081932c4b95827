// Finds the weights and quantization parameters of the layers in a program's first XNNPACK
// delegate, so that tests can damage them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/reader/payload.h"
#include "runtime/program/program_access.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"
#include "vitrine/program.h"

namespace vitrine::test {

// A range of bytes in a file.
struct FileRange {
  size_t offset = 0;
  size_t bytes = 0;
};

struct DelegatedLayer {
  uint32_t debug_handle = 0;
  bool is_int8 = false;
  FileRange weights, bias;
  // File offsets of the quantization parameters of the layer's output, if the output is quantized.
  std::optional<size_t> scale_offset, zero_point_offset;
};

// The bytes of a program, and the program's convolutions and linear layers in the order in which
// they run.
class DelegatedProgram {
 public:
  explicit DelegatedProgram(const std::filesystem::path& model) : bytes(tools::read_file(model)) {
    const auto program = tools::check(Program::load(tools::check(view_buffer(bytes))));
    const schema::program::ExecutionPlan& plan =
        *ProgramAccess::root(*program).execution_plan()->Get(0);
    const DataBuffer payload =
        tools::check(ProgramAccess::payload(*program, *plan.delegates()->Get(0)->processed()));
    Budget steps;
    const xnnpack::Payload opened = tools::check(xnnpack::open_payload(payload.bytes(), steps));
    graph_ = opened.graph;
    region_ = opened.constant_region.value_or(std::span<const std::byte>());
    named_data_ = &program->named_data();
    for (const auto* node : *graph_->xnodes()) add_layer(*node);
    graph_ = nullptr;
    named_data_ = nullptr;
  }

  template <class T>
  void write(size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  }
  template <class T>
  T read(size_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }

  std::vector<std::byte> bytes;
  std::vector<DelegatedLayer> layers;

 private:
  void add_layer(const schema::xnnpack::XNode& node) {
    const auto* convolution = node.xnode_union_as_XNNConv2d();
    if (convolution == nullptr) convolution = node.xnode_union_as_XNNDepthwiseConv2d();
    if (convolution != nullptr) return add_layer(node.debug_handle(), *convolution);
    if (const auto* linear = node.xnode_union_as_XNNFullyConnected()) {
      add_layer(node.debug_handle(), *linear);
    }
  }
  template <class Node>
  void add_layer(uint32_t handle, const Node& node) {
    DelegatedLayer layer;
    layer.debug_handle = handle;
    layer.weights = constant_of(node.filter_id());
    layer.bias = constant_of(node.bias_id());
    for (const auto* value : *graph_->xvalues()) {
      const auto* quantized = value->xvalue_union_as_XNNQuantizedTensorValue();
      if (quantized == nullptr || quantized->tensor_value()->id_out() != node.output_id()) continue;
      layer.is_int8 = true;
      const auto* parameters = quantized->quant_params_as_PerTensorQuant();
      if (parameters == nullptr) continue;
      using Quant = schema::xnnpack::PerTensorQuant;
      const auto* table = reinterpret_cast<const flatbuffers::Table*>(parameters);
      const auto offset_of = [&](flatbuffers::voffset_t field) -> std::optional<size_t> {
        const uint8_t* address = table->GetAddressOf(field);
        if (address == nullptr) return std::nullopt;
        return static_cast<size_t>(reinterpret_cast<const std::byte*>(address) - bytes.data());
      };
      layer.scale_offset = offset_of(Quant::VT_SCALE);
      layer.zero_point_offset = offset_of(Quant::VT_ZERO_POINT);
    }
    layers.push_back(layer);
  }

  FileRange constant_of(uint32_t id) const {
    for (const auto* value : *graph_->xvalues()) {
      const auto* tensor = value->xvalue_union_as_XNNTensorValue();
      if (const auto* quantized = value->xvalue_union_as_XNNQuantizedTensorValue()) {
        tensor = quantized->tensor_value();
      }
      if (tensor->id_out() != id || tensor->constant_buffer_idx() == 0) continue;
      const auto* entry = graph_->constant_data()->Get(tensor->constant_buffer_idx());
      std::span<const std::byte> data;
      if (entry->named_key() == nullptr) {
        data = region_.subspan(entry->offset(), entry->size());
      } else {
        data =
            tools::check(named_data_->get({entry->named_key()->data(), entry->named_key()->size()}))
                .bytes();
      }
      return {static_cast<size_t>(data.data() - bytes.data()), data.size()};
    }
    return {};
  }

  const schema::xnnpack::XNNGraph* graph_ = nullptr;
  std::span<const std::byte> region_;
  const NamedDataMap* named_data_ = nullptr;
};

}  // namespace vitrine::test
