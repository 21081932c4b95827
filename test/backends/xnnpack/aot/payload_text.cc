#include "test/backends/xnnpack/aot/payload_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "schema/xnnpack_graph_generated.h"

namespace vitrine::aot::test {
namespace {

namespace fb = schema::xnnpack;

template <class T>
std::vector<T> list(const flatbuffers::Vector<T>* items) {
  return items == nullptr ? std::vector<T>() : std::vector<T>(items->begin(), items->end());
}

class Describer {
 public:
  explicit Describer(const fb::XNNGraph& graph) : graph_(graph) {
    for (const fb::XValue* value : *graph.xvalues()) values_[tensor(*value).id_out()] = value;
  }

  PayloadText describe() {
    PayloadText text;
    for (const fb::XNode* node : *graph_.xnodes()) {
      text.nodes.push_back(describe(*node));
      text.handles.push_back(node->debug_handle());
    }
    return text;
  }

 private:
  static const fb::XNNTensorValue& tensor(const fb::XValue& value) {
    const auto* plain = value.xvalue_union_as_XNNTensorValue();
    return plain != nullptr ? *plain
                            : *value.xvalue_union_as_XNNQuantizedTensorValue()->tensor_value();
  }

  std::string key(uint32_t constant) const {
    const fb::ConstantDataOffset* entry = graph_.constant_data()->Get(constant);
    return fmt::format("{}({})", entry->named_key()->str(), entry->size());
  }

  std::string quantization(const fb::XValue& value) const {
    const auto* quantized = value.xvalue_union_as_XNNQuantizedTensorValue();
    if (quantized == nullptr) return "";
    if (const auto* params = quantized->quant_params_as_PerTensorQuant()) {
      return fmt::format(" scale {} zero {}", params->scale(), params->zero_point());
    }
    if (const auto* params = quantized->quant_params_as_PerChannelQuant()) {
      return fmt::format(" channel {} {}x {}", params->channel_dim(), params->num_scales(),
                         key(params->scale_buffer_idx()));
    }
    if (const auto* params = quantized->quant_params_as_PerChannelGroupQuant()) {
      return fmt::format(" channel {} block {} {}x {}", params->channel_dim(), params->group_size(),
                         params->num_scales(), key(params->scale_buffer_idx()));
    }
    return fmt::format(" rows {}",
                       quantized->quant_params_as_PerTokenDynamicQuant()->num_nonbatch_dims());
  }

  std::string operand(uint32_t id) {
    if (id == UINT32_MAX) return "-";
    const fb::XValue& value = *values_.at(id);
    const fb::XNNTensorValue& t = tensor(value);
    std::string name = makers_.contains(id) ? fmt::format("%{} ", makers_[id]) : "";
    if ((t.flags() & 1) != 0) name = fmt::format("in{} ", t.external_id());
    if ((t.flags() & 2) != 0) name += fmt::format("out{} ", t.external_id());
    std::vector<uint32_t> dims = list(t.dims());
    const std::string data =
        t.constant_buffer_idx() == 0 ? "" : " = " + key(t.constant_buffer_idx());
    return fmt::format("{}{}[{}]{}{}", name, fb::EnumNameXNNDatatype(t.datatype()) + 13,
                       fmt::join(dims, ","), quantization(value), data);
  }

  std::string describe(const fb::XNode& node) {
    std::vector<uint32_t> inputs;
    uint32_t output = UINT32_MAX;
    std::string members;
    const auto add = [&](std::string_view name, const auto& value) {
      members += fmt::format(" {}={}", name, value);
    };
    const auto has_one_input = [&](const auto& n) {
      inputs = {n.input_id()};
      output = n.output_id();
    };
    const auto add_list = [&](std::string_view key, const auto* items) {
      add(key, fmt::format("{}", fmt::join(list(items), ",")));
    };
    const void* table = node.xnode_union();
    const auto type = node.xnode_union_type();
    const std::string name = fb::EnumNameXNodeUnion(type) + 3;
    if (name == "FullyConnected") {
      const auto& n = *static_cast<const fb::NodeFullyConnected*>(table);
      inputs = {n.input1_id(), n.filter_id(), n.bias_id()};
      output = n.output_id();
      add("flags", n.flags());
    } else if (name.find("Conv2d") != std::string::npos || name == "ConvTranspose2d") {
      const auto& n = *static_cast<const fb::NodeConv*>(table);
      inputs = {n.input1_id(), n.filter_id(), n.bias_id()};
      output = n.output_id();
      add("pad", fmt::format("{},{},{},{}", n.padding_top(), n.padding_right(), n.padding_bottom(),
                             n.padding_left()));
      add("kernel", fmt::format("{}x{}", n.kernel_height(), n.kernel_width()));
      add("stride", fmt::format("{}x{}", n.subsampling_height(), n.subsampling_width()));
      add("dilation", fmt::format("{}x{}", n.dilation_height(), n.dilation_width()));
      add("groups", fmt::format("{}*{}->{}", n.groups(), n.group_input_channels(),
                                n.group_output_channels()));
      add("adjust", fmt::format("{},{}", n.adjustment_height(), n.adjustment_width()));
      add("flags", n.flags());
    } else if (name.find("Pooling2d") != std::string::npos && name != "GlobalAvgPooling2d") {
      const auto& n = *static_cast<const fb::NodePooling2D*>(table);
      has_one_input(n);
      add("pad", fmt::format("{},{},{},{}", n.padding_top(), n.padding_right(), n.padding_bottom(),
                             n.padding_left()));
      add("kernel", fmt::format("{}x{}", n.pooling_height(), n.pooling_width()));
      add("stride", fmt::format("{}x{}", n.stride_height(), n.stride_width()));
      add("dilation", fmt::format("{}x{}", n.dilation_height(), n.dilation_width()));
      add("flags", n.flags());
    } else if (name == "StaticTranspose") {
      const auto& n = *static_cast<const fb::NodeStaticTranspose*>(table);
      has_one_input(n);
      add_list("perm", n.perm());
    } else if (name == "StaticReshape") {
      const auto& n = *static_cast<const fb::NodeStaticReshape*>(table);
      has_one_input(n);
      add_list("shape", n.new_shape());
    } else if (name == "StaticSlice") {
      const auto& n = *static_cast<const fb::NodeStaticSlice*>(table);
      has_one_input(n);
      add_list("offsets", n.offsets());
      add_list("sizes", n.sizes());
    } else if (name == "StaticConstantPad") {
      const auto& n = *static_cast<const fb::NodeStaticConstantPad*>(table);
      has_one_input(n);
      add_list("before", n.pre_paddings());
      add_list("after", n.post_paddings());
      add("value", n.padding_value());
    } else if (name == "StaticResizeBilinear2D") {
      const auto& n = *static_cast<const fb::NodeStaticResizeBilinear2D*>(table);
      has_one_input(n);
      add("size", fmt::format("{}x{}", n.new_height(), n.new_width()));
      add("flags", n.flags());
    } else if (name == "LeakyReLU") {
      const auto& n = *static_cast<const fb::NodeLeakyReLU*>(table);
      has_one_input(n);
      add("slope", n.negative_slope());
    } else if (name.starts_with("Concatenate")) {
      const auto& n = *static_cast<const fb::NodeCat*>(table);
      inputs = {n.input1_id(), n.input2_id(), n.input3_id(), n.input4_id(), n.input5_id()};
      output = n.output_id();
      add("axis", n.axis());
    } else if (is_binary(type)) {
      const auto& n = *static_cast<const fb::Node2x1*>(table);
      inputs = {n.input1_id(), n.input2_id()};
      output = n.output_id();
      add("flags", n.flags());
    } else {
      const auto& n = *static_cast<const fb::Node1x1*>(table);
      has_one_input(n);
      add("flags", n.flags());
    }
    if (const fb::OutputMinMax* bounds = node.output_min_max()) {
      add("bounds", fmt::format("{}..{}", bounds->output_min(), bounds->output_max()));
    }
    std::string line = name;
    for (const uint32_t input : inputs) line += " (" + operand(input) + ")";
    line += " -> (" + operand(output) + ")";
    makers_[output] = number_++;
    return line + members;
  }

  static bool is_binary(fb::XNodeUnion type) {
    using enum fb::XNodeUnion;
    for (const auto binary : {XNNAdd, XNNDiv, XNNMinimum, XNNMultiply, XNNSubtract, XNNMaximum,
                              XNNPReLU, XNNBatchMatrixMultiply}) {
      if (type == binary) return true;
    }
    return false;
  }

  const fb::XNNGraph& graph_;
  std::map<uint32_t, const fb::XValue*> values_;
  std::map<uint32_t, size_t> makers_;  // from the value's id to the index of its node
  size_t number_ = 0;
};

}  // namespace

PayloadText describe_payload(std::span<const std::byte> payload) {
  uint32_t offset = 0;
  uint32_t size = 0;
  if (payload.size() < 32 || std::memcmp(payload.data() + 4, "XH00", 4) != 0) {
    ADD_FAILURE() << "the bytes do not begin with a payload header";
    return {};
  }
  std::memcpy(&offset, payload.data() + 10, 4);
  std::memcpy(&size, payload.data() + 14, 4);
  const auto* bytes = reinterpret_cast<const uint8_t*>(payload.data() + offset);
  flatbuffers::Verifier verifier(bytes, size);
  if (!fb::VerifyXNNGraphBuffer(verifier)) {
    ADD_FAILURE() << "the flatbuffer of the payload is invalid";
    return {};
  }
  return Describer(*fb::GetXNNGraph(bytes)).describe();
}

}  // namespace vitrine::aot::test
