// Plans the memory of a method's tensors.
#include <algorithm>
#include <limits>

#include "aot/emit/memory_plan.h"
#include "aot/emit/method_tensors.h"
#include "aot/operators/infer.h"

namespace vitrine::aot {
namespace {

// Returns the largest number of bytes that a delegate may read past the end of an input. Includes
// delegates in subgraphs, because their inputs may be in the memory of the outer graph.
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

// Returns the lifetimes of the graph's storages that need planned memory.
std::vector<MethodTensors::Lifetime> MethodTensors::lifetimes(const Graph& graph) const {
  std::vector<Lifetime> found;  // in order of first use
  std::unordered_map<size_t, size_t> index_of;
  const size_t last_node = graph.nodes().size() - 1;
  size_t position = 0;
  for (const Node& node : graph.nodes()) {
    const bool is_input = node.kind() == Node::Kind::kPlaceholder;
    const auto use = [&](const std::vector<size_t>& tensors) {
      for (const size_t id : tensors) {
        if (id == kNoTensor) continue;
        const MethodStorage& storage = storage_of(id);
        if (storage.graph != &graph || !storage.is_planned || storage.shared_at) continue;
        const auto [index, is_new] = index_of.try_emplace(tensors_[id].storage, found.size());
        if (is_new) found.push_back({tensors_[id].storage, position, position});
        Lifetime& lifetime = found[index->second];
        if (is_input) lifetime.first = 0;
        // A buffer lives until the last node, because its content is needed in the next execution.
        lifetime.last = is_input && tensors_[id].weight != nullptr
                            ? last_node
                            : std::max(lifetime.last, position);
      }
    };
    use(of(node));
    if (const auto scratch = scratch_.find(&node); scratch != scratch_.end()) use(scratch->second);
    for (const Node* input : node.inputs()) use(of(*input));
    ++position;
  }
  return found;
}

// Plans the memory of the subgraphs, and then this graph's memory at higher offsets. All subgraphs
// start at offset 0, because only one is active at a time. Raises `end` if necessary.
void MethodTensors::plan(const Graph& graph, bool greedy, uint64_t& end) {
  uint64_t begin = 0;
  for (const auto& [name, subgraph] : graph.subgraphs()) plan(*subgraph, greedy, begin);

  const std::vector<Lifetime> planned = lifetimes(graph);
  std::vector<Allocation> allocations;
  allocations.reserve(planned.size());
  for (const Lifetime& lifetime : planned) {
    allocations.push_back({storages_[lifetime.storage].bytes, lifetime.first, lifetime.last, 0});
  }
  // ExecuTorch reserves memory at the output node for results of calls that write to buffers. The
  // results do not need this memory, but the plans must be equal.
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

void MethodTensors::plan_in_place(const Graph& graph) {
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

bool MethodTensors::may_overwrite(const Node& operand, const Node& call,
                                  std::span<const StorageOffset> offsets) const {
  const MethodTensor& result = tensors_[of(call)[0]];
  const auto offset_of = [&](const Node& node) {
    const MethodTensor& tensor = tensors_[of(node)[0]];
    const StorageOffset& offset = offsets[tensor.storage];
    return StorageOffset{offset.storage, offset.begin + tensor.begin};
  };
  const auto is_like_result = [&](const Node& node) {
    const TensorValue& value = tensors_[of(node)[0]].value;
    return value.dtype == result.value.dtype && value.dim_order == result.value.dim_order &&
           node.tensor()->sizes == call.tensor()->sizes;
  };
  const StorageOffset offset = offset_of(operand);
  if (!is_like_result(operand) || offset.begin % options_.alignment != 0 ||
      storages_[result.storage].bytes > storages_[offset.storage].bytes - offset.begin) {
    return false;
  }
  // Operands in the reused storage must have the offset, dtype, sizes and dim order of the result.
  // The call then reads each element before overwriting it.
  return std::ranges::all_of(call.inputs(), [&](const Node* other) {
    if (other->tensor() == nullptr) return true;
    const StorageOffset its = offset_of(*other);
    return its.storage != offset.storage || (its.begin == offset.begin && is_like_result(*other));
  });
}

void MethodTensors::share_with_operands(const Graph& graph) {
  constexpr size_t kNever = std::numeric_limits<size_t>::max();
  // The position of the last node that uses each storage, or kNever if no call may overwrite the
  // storage.
  std::vector<size_t> last(storages_.size(), kNever);
  for (const Lifetime& lifetime : lifetimes(graph)) last[lifetime.storage] = lifetime.last;
  std::vector<StorageOffset> offsets;
  for (size_t i = 0; i < storages_.size(); ++i) offsets.push_back({i, 0});

  size_t position = 0;
  for (const Node& node : graph.nodes()) {
    const size_t here = position++;
    if (node.kind() == Node::Kind::kPlaceholder) {  // inputs must not change
      for (const size_t id : of(node)) {
        if (id != kNoTensor) last[tensors_[id].storage] = kNever;
      }
    }
    if (!node.is_call() || node.tensor() == nullptr || !is_elementwise(node.target()) ||
        is_write(node)) {
      continue;
    }
    const size_t result = tensors_[of(node)[0]].storage;
    if (last[result] == kNever) continue;
    for (const Node* operand : node.inputs()) {
      if (operand->tensor() == nullptr) continue;
      const MethodTensor& read = tensors_[of(*operand)[0]];
      const StorageOffset reused = offsets[read.storage];
      if (last[reused.storage] != here || !may_overwrite(*operand, node, offsets)) continue;
      last[reused.storage] = last[result];
      offsets[result] = {reused.storage, reused.begin + read.begin};
      break;
    }
  }
  for (MethodTensor& tensor : tensors_) {
    const StorageOffset& offset = offsets[tensor.storage];
    tensor.begin += offset.begin;
    tensor.storage = offset.storage;
  }
}

}  // namespace vitrine::aot
