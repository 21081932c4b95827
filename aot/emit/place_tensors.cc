// Where a method's tensors lie in planned memory.
#include <algorithm>
#include <limits>

#include "aot/emit/memory_plan.h"
#include "aot/emit/method_tensors.h"
#include "aot/shapes/infer.h"

namespace vitrine::aot {
namespace {

// Bytes behind the memory of a graph that its delegates may read, those in branches too: they read
// what lies in the memory of the graph around them.
uint64_t padding_of(const Graph& graph) {
  uint64_t padding = 0;
  for (const Node& node : graph.nodes()) {
    if (is_delegate_call(node)) padding = std::max(padding, lowered_module_of(node).input_padding);
  }
  for (const auto& [name, subgraph] : graph.subgraphs()) {
    padding = std::max(padding, padding_of(*subgraph));
  }
  return padding;
}

}  // namespace

// The lifetimes of the storages of a graph that the plan has to place.
std::vector<MethodTensors::Lifetime> MethodTensors::lifetimes(const Graph& graph) const {
  std::vector<Lifetime> found;  // as they appear
  std::unordered_map<size_t, size_t> place_of;
  const size_t last_node = graph.nodes().size() - 1;
  size_t position = 0;
  for (const Node& node : graph.nodes()) {
    const bool is_input = node.kind() == Node::Kind::kPlaceholder;
    const auto mention = [&](const Node& mentioned) {
      for (const size_t id : of(mentioned)) {
        if (id == kNoTensor) continue;
        const MethodStorage& storage = storage_of(id);
        if (storage.graph != &graph || !storage.is_planned || storage.shared_at) continue;
        const auto [place, is_new] = place_of.try_emplace(tensors_[id].storage, found.size());
        if (is_new) found.push_back({tensors_[id].storage, position, position});
        Lifetime& lifetime = found[place->second];
        if (is_input) lifetime.first = 0;
        // A buffer keeps its numbers for the next run.
        lifetime.last = is_input && tensors_[id].weight != nullptr
                            ? last_node
                            : std::max(lifetime.last, position);
      }
    };
    mention(node);
    for (const Node* input : node.inputs()) mention(*input);
    ++position;
  }
  return found;
}

// Branches first, each from the same start: only one of them runs. `end` is the largest so far.
void MethodTensors::plan(const Graph& graph, bool greedy, uint64_t& end) {
  uint64_t begin = 0;
  for (const auto& [name, subgraph] : graph.subgraphs()) plan(*subgraph, greedy, begin);

  const std::vector<Lifetime> planned = lifetimes(graph);
  std::vector<Allocation> allocations;
  allocations.reserve(planned.size());
  for (const Lifetime& each : planned) {
    allocations.push_back({storages_[each.storage].bytes, each.first, each.last, 0});
  }
  // ExecuTorch's plans reserve room, at the end, for the results of writes to buffers, although
  // these are in the buffers. It costs nothing: the written values are no longer in use then.
  const size_t last_node = graph.nodes().size() - 1;
  for (const Node* result : graph.output()->inputs()) {
    if (!is_write(*result)) continue;
    for (const size_t id : of(*result)) {
      if (storage_of(id).shared_at) continue;
      allocations.push_back({storage_of(id).bytes, last_node, last_node, 0});
    }
  }
  const auto algorithm = greedy ? plan_greedy : plan_naive;
  uint64_t used = algorithm(allocations, begin, options_.alignment);
  if (greedy && options_.tight) {
    std::vector<Allocation> others = allocations;
    const uint64_t tight = plan_tight(others, begin, options_.alignment);
    if (tight < used) {
      used = tight;
      allocations = std::move(others);
    }
  }
  end = std::max(end, used + padding_of(graph));
  std::vector<uint64_t> offsets(storages_.size());
  for (size_t i = 0; i < planned.size(); ++i) offsets[planned[i].storage] = allocations[i].offset;
  for (MethodTensor& tensor : tensors_) {
    const MethodStorage& storage = storages_[tensor.storage];
    if (storage.graph == &graph && storage.is_planned) {
      tensor.value.offset = offsets[tensor.storage] + tensor.begin;
    }
  }
}

void MethodTensors::work_in_place(const Graph& graph) {
  const std::vector<MethodTensor> before = tensors_;
  uint64_t bytes = 0;
  share_with_operands(graph);
  plan(graph, options_.greedy, bytes);
  if (bytes <= planned_bytes_) {
    planned_bytes_ = bytes;
  } else {
    tensors_ = before;
  }
}

bool MethodTensors::may_take_memory_of(const Node& operand, const Node& call,
                                       std::span<const Place> places) const {
  const MethodTensor& made = tensors_[of(call)[0]];
  const auto place_of = [&](const Node& node) {
    const MethodTensor& tensor = tensors_[of(node)[0]];
    const Place& place = places[tensor.storage];
    return Place{place.storage, place.begin + tensor.begin};
  };
  const auto is_like_result = [&](const Node& node) {
    const TensorValue& value = tensors_[of(node)[0]].value;
    return value.dtype == made.value.dtype && value.dim_order == made.value.dim_order &&
           node.tensor()->sizes == call.tensor()->sizes;
  };
  const Place place = place_of(operand);
  if (!is_like_result(operand) || place.begin % options_.alignment != 0 ||
      storages_[made.storage].bytes > storages_[place.storage].bytes - place.begin) {
    return false;
  }
  // What else lies there is read where the result is written only if it is the same.
  return std::ranges::all_of(call.inputs(), [&](const Node* other) {
    if (other->tensor() == nullptr) return true;
    const Place its = place_of(*other);
    return its.storage != place.storage || (its.begin == place.begin && is_like_result(*other));
  });
}

void MethodTensors::share_with_operands(const Graph& graph) {
  constexpr size_t kNever = std::numeric_limits<size_t>::max();
  std::vector<size_t> last(storages_.size(), kNever);  // the node that mentions a storage last
  for (const Lifetime& each : lifetimes(graph)) last[each.storage] = each.last;
  std::vector<Place> places;
  for (size_t i = 0; i < storages_.size(); ++i) places.push_back({i, 0});

  size_t position = 0;
  for (const Node& node : graph.nodes()) {
    const size_t here = position++;
    if (node.kind() == Node::Kind::kPlaceholder) {  // inputs keep what they were given
      for (const size_t id : of(node)) {
        if (id != kNoTensor) last[tensors_[id].storage] = kNever;
      }
    }
    if (!node.is_call() || node.tensor() == nullptr || !is_elementwise(node.target()) ||
        is_write(node)) {
      continue;
    }
    const size_t made = tensors_[of(node)[0]].storage;
    if (last[made] == kNever) continue;
    for (const Node* operand : node.inputs()) {
      if (operand->tensor() == nullptr) continue;
      const MethodTensor& read = tensors_[of(*operand)[0]];
      const Place taken = places[read.storage];
      if (last[taken.storage] != here || !may_take_memory_of(*operand, node, places)) continue;
      last[taken.storage] = last[made];
      places[made] = {taken.storage, taken.begin + read.begin};
      break;
    }
  }
  for (MethodTensor& tensor : tensors_) {
    const Place& place = places[tensor.storage];
    tensor.begin += place.begin;
    tensor.storage = place.storage;
  }
}

}  // namespace vitrine::aot
