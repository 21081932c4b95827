#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "backends/xnnpack/aot/payload_graph.h"
#include "backends/xnnpack/aot/weights.h"

namespace vitrine::aot::xnnpack {
namespace {

using NodeIterator = std::list<PayloadNode>::iterator;

// Dim i of channels-last memory is the logical dim kToChannelsLast[i]. kToLogical is the inverse.
constexpr std::array<uint32_t, 4> kToChannelsLast = {0, 2, 3, 1};
constexpr std::array<uint32_t, 4> kToLogical = {0, 3, 1, 2};

enum class LayoutNeed : uint8_t { kAny, kChannelsLast, kLogical };
struct KindLayoutNeed {
  NodeKind kind;
  LayoutNeed need;
};
// Node kinds outside of this table accept any layout.
constexpr std::array kNeeds = {
    KindLayoutNeed{NodeKind::XNNArgMaxPooling2d, LayoutNeed::kChannelsLast},
    KindLayoutNeed{NodeKind::XNNAvgPooling2d, LayoutNeed::kChannelsLast},
    KindLayoutNeed{NodeKind::XNNConv2d, LayoutNeed::kChannelsLast},
    KindLayoutNeed{NodeKind::XNNConvTranspose2d, LayoutNeed::kChannelsLast},
    KindLayoutNeed{NodeKind::XNNDepthwiseConv2d, LayoutNeed::kChannelsLast},
    KindLayoutNeed{NodeKind::XNNGlobalAvgPooling2d, LayoutNeed::kChannelsLast},
    KindLayoutNeed{NodeKind::XNNMaxPooling2d, LayoutNeed::kChannelsLast},
    KindLayoutNeed{NodeKind::XNNPReLU, LayoutNeed::kChannelsLast},
    KindLayoutNeed{NodeKind::XNNStaticResizeBilinear2D, LayoutNeed::kChannelsLast},
    KindLayoutNeed{NodeKind::XNNBatchMatrixMultiply, LayoutNeed::kLogical},
    KindLayoutNeed{NodeKind::XNNFullyConnected, LayoutNeed::kLogical},
    KindLayoutNeed{NodeKind::XNNSoftmax, LayoutNeed::kLogical},
    KindLayoutNeed{NodeKind::XNNStaticReshape, LayoutNeed::kLogical},
};

LayoutNeed need_of(NodeKind kind) {
  const auto found = std::ranges::find(kNeeds, kind, &KindLayoutNeed::kind);
  return found == kNeeds.end() ? LayoutNeed::kAny : found->need;
}

std::vector<uint32_t> as_channels_last(const std::vector<uint32_t>& by_dim) {
  std::vector<uint32_t> moved;
  moved.reserve(std::size(kToChannelsLast));
  for (const uint32_t dim : kToChannelsLast) moved.push_back(by_dim[dim]);
  return moved;
}

class Arranger {
 public:
  explicit Arranger(PayloadGraph& graph) : graph_(graph) {}

  void run() {
    for (auto it = graph_.nodes.begin(); it != graph_.nodes.end(); ++it) {
      producer_[it->output] = it;
    }
    first_ = graph_.nodes.begin();
    for (auto it = first_; it != graph_.nodes.end();) {
      const auto next = std::next(it);
      arrange(*it);
      it = next;
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) arrange_output(i);
    for (PayloadValue& value : graph_.values) {
      if (value.is_channels_last) value.dims = as_channels_last(value.dims);
    }
  }

 private:
  PayloadValue& value(uint32_t id) { return graph_.values[id]; }
  bool is_image(uint32_t id) { return value(id).dims.size() == 4; }

  void arrange(PayloadNode& node) {
    if (node.wants_channels_last) return arrange_copy(node);
    const LayoutNeed need = need_of(node.kind);
    if (need == LayoutNeed::kChannelsLast) {
      if (!is_image(node.inputs[0])) return;
      node.inputs[0] = converted(node.inputs[0], true, node.handles);
    } else {
      const bool is_any = need == LayoutNeed::kAny;
      if (!is_any) return convert_inputs(node, false);
      const auto is_channels_last = [&](uint32_t id) {
        return id != kNoValue && value(id).is_channels_last;
      };
      if (std::ranges::none_of(node.inputs, is_channels_last)) return;
      const bool can_be_nhwc = is_image(node.output) && has_lists_of_four(node) &&
                               std::ranges::all_of(node.inputs, [&](uint32_t id) {
                                 return id == kNoValue || is_image(id);
                               });
      convert_inputs(node, can_be_nhwc);
      if (!can_be_nhwc) return;
      move_parameters(node);
    }
    if (is_image(node.output)) value(node.output).is_channels_last = true;
  }

  static bool has_lists_of_four(const PayloadNode& node) {
    return (node.list.empty() || node.list.size() == 4) &&
           (node.second_list.empty() || node.second_list.size() == 4);
  }

  void convert_inputs(PayloadNode& node, bool channels_last) {
    for (uint32_t& input : node.inputs) {
      if (input != kNoValue && is_image(input)) {
        input = converted(input, channels_last, node.handles);
      }
    }
  }

  void arrange_copy(PayloadNode& node) {
    const uint32_t input = node.inputs[0];
    const bool wanted = *node.wants_channels_last && is_image(input);
    value(node.output).is_channels_last = wanted;
    if (wanted == value(input).is_channels_last) return;
    node.kind = NodeKind::XNNStaticTranspose;
    const auto& perm = wanted ? kToChannelsLast : kToLogical;
    node.list.assign(perm.begin(), perm.end());
    partner_.emplace(input, node.output);
    partner_.emplace(node.output, input);
  }

  // Converts the parameters of a node from logical dims to memory dims.
  static void move_parameters(PayloadNode& node) {
    switch (node.kind) {
      case NodeKind::XNNStaticTranspose: {
        const std::vector<uint32_t> perm = node.list;
        for (size_t i = 0; i < 4; ++i) node.list[i] = kToLogical[perm[kToChannelsLast[i]]];
        break;
      }
      case NodeKind::XNNStaticConstantPad:
      case NodeKind::XNNStaticSlice:
        node.list = as_channels_last(node.list);
        node.second_list = as_channels_last(node.second_list);
        break;
      case NodeKind::XNNConcatenate2:
      case NodeKind::XNNConcatenate3:
      case NodeKind::XNNConcatenate4:
      case NodeKind::XNNConcatenate5:
        node.axis = kToLogical[node.axis];
        break;
      default:
        break;
    }
  }

  uint32_t converted(uint32_t id, bool channels_last, const std::vector<uint32_t>& served) {
    if (value(id).is_channels_last == channels_last) return id;
    if (const auto found = partner_.find(id); found != partner_.end()) {
      const auto copy = producer_.find(found->second);
      if (copy != producer_.end() && copy->second->handle == kInsertedHandle) {
        std::vector<uint32_t>& handles = copy->second->handles;
        handles.insert(handles.end(), served.begin(), served.end());
      }
      return found->second;
    }
    const uint32_t made = make_converted(id, channels_last, served);
    partner_.emplace(id, made);
    partner_.emplace(made, id);
    return made;
  }

  uint32_t add_like(uint32_t id, bool channels_last) {
    PayloadValue copy = value(id);
    copy.input.reset();
    copy.output.reset();
    copy.is_channels_last = channels_last;
    return graph_.add_value(std::move(copy));
  }

  uint32_t make_converted(uint32_t id, bool channels_last, const std::vector<uint32_t>& served) {
    const auto& perm = channels_last ? kToChannelsLast : kToLogical;
    if (value(id).is_constant()) {
      const uint32_t made = add_like(id, channels_last);
      const PayloadValue& from = value(id);
      const size_t width = from.data->size() / std::max<size_t>(elements_of(from), 1);
      value(made).data =
          std::make_shared<const Bytes>(permuted(*from.data, width, from.dims, kToChannelsLast));
      return made;
    }
    const auto producer = producer_.find(id);
    if (producer != producer_.end() && must_transpose_input(*producer->second)) {
      // Transposes the input of the conversion instead of its output. XNNPACK cannot transpose
      // qdint8 outputs, and qint8 inputs are smaller.
      const NodeIterator it = producer->second;
      const uint32_t source = converted(it->inputs[0], channels_last, served);
      PayloadNode node = *it;
      node.inputs = {source};
      node.output = add_like(id, channels_last);
      return insert(std::next(it), std::move(node));
    }
    PayloadNode node;
    node.kind = NodeKind::XNNStaticTranspose;
    node.inputs = {id};
    node.list.assign(perm.begin(), perm.end());
    node.handles = served;
    node.output = add_like(id, channels_last);
    const bool is_made = producer != producer_.end();
    return insert(is_made ? std::next(producer->second) : position_for_input(*value(id).input),
                  std::move(node));
  }

  bool must_transpose_input(const PayloadNode& node) {
    if (node.kind != NodeKind::XNNConvert) return false;
    return value(node.output).datatype == Datatype::xnn_datatype_qdint8 ||
           value(node.inputs[0]).datatype == Datatype::xnn_datatype_qint8;
  }

  // Returns the position for the transposition of an input. These transpositions are the first
  // nodes of the graph, in the order of the inputs.
  NodeIterator position_for_input(uint32_t position) {
    auto it = graph_.nodes.begin();
    for (; it != first_; ++it) {
      if (*value(it->inputs[0]).input > position) break;
    }
    return it;
  }

  uint32_t insert(NodeIterator before, PayloadNode node) {
    const uint32_t output = node.output;
    producer_[output] = graph_.nodes.insert(before, std::move(node));
    return output;
  }

  static size_t elements_of(const PayloadValue& value) {
    size_t count = 1;
    for (const uint32_t dim : value.dims) count *= dim;
    return count;
  }

  void arrange_output(size_t position) {
    PayloadOutput& output = graph_.outputs[position];
    const auto producer = producer_.find(output.value);
    std::vector<uint32_t> served;
    if (producer != producer_.end()) served = producer->second->handles;
    const std::vector<uint32_t>& order = output.dim_order;
    const bool wants_channels_last = std::ranges::equal(order, kToChannelsLast);
    if (is_image(output.value)) {
      output.value = converted(output.value, wants_channels_last, served);
    }
    if (!order.empty() && !wants_channels_last) {
      PayloadNode node;
      node.kind = NodeKind::XNNStaticTranspose;
      node.inputs = {output.value};
      node.list = order;
      node.handles = served;
      node.output = add_like(output.value, false);
      for (size_t i = 0; i < order.size(); ++i) {
        value(node.output).dims[i] = value(output.value).dims[order[i]];
      }
      output.value = insert(graph_.nodes.end(), std::move(node));
    }
    const PayloadValue& found = value(output.value);
    if (found.input || found.output || found.is_constant()) {
      PayloadNode copy;
      copy.kind = NodeKind::XNNCopy;
      copy.inputs = {output.value};
      copy.output = add_like(output.value, found.is_channels_last);
      copy.handles = served;
      value(copy.output).data = nullptr;
      output.value = insert(graph_.nodes.end(), std::move(copy));
    }
    value(output.value).output = static_cast<uint32_t>(position);
  }

  PayloadGraph& graph_;
  NodeIterator first_;  // the first node that existed before the transpositions were inserted
  std::map<uint32_t, NodeIterator> producer_;
  std::map<uint32_t, uint32_t> partner_;  // maps a value to the same value in the other layout
};

}  // namespace

void arrange_layouts(PayloadGraph& graph) { Arranger(graph).run(); }

void remove_unused(PayloadGraph& graph) {
  std::vector<bool> is_used(graph.values.size());
  for (const PayloadOutput& output : graph.outputs) is_used[output.value] = true;
  for (auto it = graph.nodes.end(); it != graph.nodes.begin();) {
    --it;
    if (!is_used[it->output]) {
      it = graph.nodes.erase(it);
      continue;
    }
    for (const uint32_t input : it->inputs) {
      if (input != kNoValue) is_used[input] = true;
    }
  }
  std::vector<PayloadValue> kept;
  std::vector<uint32_t> number(graph.values.size(), kNoValue);
  const auto renumber = [&](uint32_t& id) {
    if (id == kNoValue) return;
    if (number[id] == kNoValue) {
      number[id] = static_cast<uint32_t>(kept.size());
      kept.push_back(std::move(graph.values[id]));
    }
    id = number[id];
  };
  for (PayloadNode& node : graph.nodes) {
    for (uint32_t& input : node.inputs) renumber(input);
    renumber(node.output);
  }
  for (uint32_t& input : graph.inputs) {
    if (input != kNoValue) input = number[input];
  }
  for (PayloadOutput& output : graph.outputs) renumber(output.value);
  graph.values = std::move(kept);
}

}  // namespace vitrine::aot::xnnpack
