#include "aot/emit/method_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "aot/emit/control_flow.h"
#include "aot/graph/node_error.h"
#include "runtime/core/checked_math.h"

namespace vitrine::aot {
namespace {

constexpr size_t kMaxRank = 16;  // the format's limit

bool is_weight(InputSpec::Kind kind) {
  return kind == InputSpec::Kind::kParameter || kind == InputSpec::Kind::kBuffer ||
         kind == InputSpec::Kind::kTensorConstant;
}

TensorValue resolve(const Node& node, const TensorSpec& spec, const RangeConstraints& ranges) {
  TensorValue value;
  value.dtype = spec.dtype;
  value.requires_grad = spec.requires_grad;
  value.is_dynamic = !spec.is_static();
  if (spec.rank() > kMaxRank) {
    fail_at(node,
            fmt::format("has {} dimensions; programs support up to {}", spec.rank(), kMaxRank));
  }
  for (const SymInt& size : spec.sizes) {
    const std::optional<int64_t> bound = upper_bound(size, ranges);
    if (!bound.has_value()) {
      fail_at(node, fmt::format("its size {} has no upper bound; set one when exporting (max of "
                                "torch.export.Dim) or with --max-size",
                                to_text(size)));
    }
    if (*bound < 0 || *bound > std::numeric_limits<int32_t>::max()) {
      fail_at(node,
              fmt::format("its size {} may be {}, but sizes in programs must be from 0 to 2^31 - 1",
                          to_text(size), *bound));
    }
    value.sizes.push_back(static_cast<int32_t>(*bound));
  }
  value.dim_order = kept_dim_order(spec);
  return value;
}

uint64_t bytes_of(const Node& node, const TensorValue& value) {
  // Loaders multiply the sizes in this order, and the number of bytes must not overflow 64-bit
  // integers. The limit assumes elements of 16 bytes, the maximum.
  int64_t elements = 1;
  for (const int32_t size : value.sizes) {
    if (mul_overflows(elements, size, &elements)) fail_at(node, "has 2^59 or more elements");
  }
  if (elements > std::numeric_limits<int64_t>::max() / 16) {
    fail_at(node, "has 2^59 or more elements");
  }
  const size_t width = element_size(value.dtype);
  if (width == 0) {
    fail_at(node, fmt::format("has dtype {}, which programs do not support",
                              scalar_type_name(value.dtype)));
  }
  return static_cast<uint64_t>(elements) * width;
}

void check_data(const Node& node, const MethodTensor& tensor) {
  const std::vector<int64_t>& sizes = tensor.data->sizes;
  if (tensor.data->dtype != tensor.value.dtype ||
      !std::ranges::equal(sizes, tensor.value.sizes, [](int64_t a, int32_t b) { return a == b; })) {
    fail_at(node, "its data differ in shape or dtype from the graph");
  }
}

// Returns the offset of a view in its base, in bytes. Empty if the call has no offset argument.
std::optional<uint64_t> part_offset(const Node& view) {
  const Argument* given = view.arg(2);
  if (given == nullptr) return {};
  const auto* elements = given->get<int64_t>();
  uint64_t bytes = 0;
  if (elements == nullptr || *elements < 0 ||
      mul_overflows(static_cast<uint64_t>(*elements),
                    static_cast<uint64_t>(element_size(view.tensor()->dtype)), &bytes)) {
    fail_at(view, "its third argument must be an offset in elements, 0 or more");
  }
  return bytes;
}

}  // namespace

bool is_write(const Node& node) {
  const Operator* op = node.is_call() ? operator_of(node.target()) : nullptr;
  return op != nullptr && !op->kernel.empty() && op->is_in_place();
}

bool is_delegate_call(const Node& node) {
  return node.is_call() && node.target().is("executorch_call_delegate");
}

bool is_memory_view(const Node& node) { return node.is_call() && node.target().is("memory.view"); }

const LoweredBackendModule& lowered_module_of(const Node& call) {
  const Node* getter = call.arg(0) == nullptr ? nullptr : call.arg(0)->node();
  if (getter == nullptr || getter->kind() != Node::Kind::kGetAttr) {
    fail_at(call, "its first argument is not a lowered module");
  }
  const auto found = call.graph().lowered_modules().find(getter->attribute());
  if (found == call.graph().lowered_modules().end() || found->second == nullptr) {
    fail_at(call, fmt::format("the graph has no lowered module {}", getter->attribute()));
  }
  return *found->second;
}

MethodTensors::MethodTensors(const ExportedProgram& program,
                             const EmitOptions::MemoryPlanning& options,
                             const SharedBuffers& shared)
    : program_(program), options_(options), shared_(shared) {
  const Graph& graph = *program.graph;
  add_graph(graph, true);
  if (!options.alloc_graph_output) {
    graph.output()->need(0).for_each_node([&](Node* node) {
      for (const size_t id : of(*node)) {
        if (id == kNoTensor) continue;
        const MethodTensor& tensor = tensors_[id];
        if (tensor.weight == nullptr) storages_[tensor.storage].is_planned = false;
      }
    });
  }
  plan(graph, false, naive_bytes_);
  plan(graph, options.greedy, planned_bytes_);
  if (options.in_place) plan_in_place(graph);
  for (MethodTensor& tensor : tensors_) {
    const MethodStorage& storage = storages_[tensor.storage];
    if (!storage.shared_at) continue;
    tensor.value.offset = storage.shared_at;
    tensor.value.is_shared = true;
  }
}

const std::vector<size_t>& MethodTensors::of(const Node& node) const {
  static const Results kNone;
  const auto found = results_.find(&node);
  return found == results_.end() ? kNone : found->second;
}

std::vector<PlanScratch> MethodTensors::scratch_of(const Node& node) const {
  std::vector<PlanScratch> scratch;
  const auto found = scratch_.find(&node);
  if (found == scratch_.end()) return scratch;
  for (const size_t id : found->second) {
    scratch.push_back({*tensors_[id].value.offset, storage_of(id).bytes});
  }
  return scratch;
}

bool MethodTensors::is_free_view(const Node& node) const {
  const size_t id = of(node).at(0);
  return is_memory_view(node) && !tensors_[id].value.is_dynamic &&
         (storage_of(id).is_planned || tensors_[id].data != nullptr);
}

bool MethodTensors::has_shared_buffers() const {
  return std::ranges::any_of(
      storages_, [](const MethodStorage& storage) { return storage.shared_at.has_value(); });
}

// Placeholders of branches and loop bodies have tensors from add_condition and add_loop.
void MethodTensors::add_graph(const Graph& graph, bool is_method) {
  for (const Node& node : graph.nodes()) {
    switch (node.kind()) {
      case Node::Kind::kPlaceholder:
        if (is_method) add_input(node);
        break;
      case Node::Kind::kGetAttr: {
        const auto constant = graph.tensors().find(node.attribute());
        if (constant == graph.tensors().end()) break;  // a subgraph or a lowered module
        results_[&node] = new_tensors(node);
        MethodTensor& tensor = tensors_[results_[&node].at(0)];
        tensor.data = &constant->second;
        tensor.data_order = tensor.value.dim_order;
        check_data(node, tensor);
        storages_[tensor.storage].is_planned = false;
        break;
      }
      case Node::Kind::kCall:
        add_call(node);
        break;
      case Node::Kind::kOutput:
        break;
    }
  }
}

void MethodTensors::add_input(const Node& node) {
  const InputSpec* spec = program_.input_of(node.name());
  if (spec == nullptr) fail_at(node, "is not in the signature");
  if (node.tensor() == nullptr) return;
  results_[&node] = new_tensors(node);
  MethodTensor& tensor = tensors_[results_[&node].at(0)];
  MethodStorage& storage = storages_[tensor.storage];
  if (!is_weight(spec->kind)) {
    storage.is_planned = options_.alloc_graph_input;
    return;
  }
  tensor.weight = spec;
  tensor.data = program_.data_of(*spec);
  if (tensor.data == nullptr)
    fail_at(node, fmt::format("the model has no data for {}", spec->target));
  storage.is_planned = program_.is_mutated(*spec);
  const auto shared = shared_.offsets.find(spec->target);
  if (storage.is_planned && spec->kind == InputSpec::Kind::kBuffer &&
      shared != shared_.offsets.end()) {
    storage.shared_at = shared->second;
  }
  tensor.data_order = tensor.value.dim_order;
  check_data(node, tensor);
}

void MethodTensors::add_call(const Node& node) {
  const Node* first = node.arg(0) == nullptr ? nullptr : node.arg(0)->node();
  if (node.target() == getitem()) {
    const int64_t* index = node.arg(1) == nullptr ? nullptr : node.arg(1)->get<int64_t>();
    if (first == nullptr || first->meta.value.items() == nullptr || index == nullptr ||
        *index < 0 || static_cast<size_t>(*index) >= of(*first).size()) {
      fail_at(node, "its index is out of range: its first argument has fewer results");
    }
    results_[&node] = {of(*first)[static_cast<size_t>(*index)]};
    return;
  }
  if (is_condition(node)) return add_condition(node);
  if (is_loop(node)) return add_loop(node);
  if (is_while_loop(node)) return add_while_loop(node);
  if (is_memory_view(node)) {
    if (first == nullptr || of(*first).size() != 1 || node.tensor() == nullptr) {
      fail_at(node, "its first argument must be a tensor");
    }
    const MethodTensor base = tensors_[of(*first)[0]];
    const size_t id = new_tensor(node, *node.tensor());
    const uint64_t bytes = storages_.back().bytes;
    storages_.pop_back();
    uint64_t& held = storages_[base.storage].bytes;
    if (const std::optional<uint64_t> begin = part_offset(node)) {
      if (base.data != nullptr)
        fail_at(node, "is a view of part of a constant; such views are not supported");
      if (*begin > held || base.begin > held - *begin || bytes > held - *begin - base.begin) {
        fail_at(node, "is a view of more bytes than its base has");
      }
      tensors_[id].begin = *begin;
    }
    tensors_[id].begin += base.begin;
    if (bytes > held && (!tensors_[id].value.is_dynamic || base.data != nullptr)) {
      fail_at(node, "is a view of more bytes than its base has");
    }
    // A dynamic view's bound may exceed its base's bound, because interval arithmetic is not exact.
    held = std::max(held, bytes);
    tensors_[id].storage = base.storage;
    tensors_[id].data = base.data;
    tensors_[id].data_order = base.data_order;
    tensors_[id].weight = base.weight;
    results_[&node] = {id};
    return;
  }
  if (is_write(node)) {
    if (first == nullptr) fail_at(node, "its first argument, which it writes to, must be a tensor");
    results_[&node] = Results(of(*first));
    return;
  }
  results_[&node] = new_tensors(node);
  if (is_delegate_call(node)) add_scratch(node);
}

void MethodTensors::add_condition(const Node& node) {
  const Argument* given = node.arg(3);
  const ArgumentList* operands = given == nullptr ? nullptr : given->list();
  for (const size_t index : {size_t{0}, size_t{1}}) {
    const Graph& branch = branch_of(node, index);
    size_t next = 0;
    for (const Node& input : branch.nodes()) {
      if (input.kind() != Node::Kind::kPlaceholder) break;
      if (operands == nullptr || next >= operands->size()) {
        fail_at(input, "the branch has more inputs than the call has operands");
      }
      const Node* operand = (*operands)[next++].node();
      if (operand != nullptr) results_[&input] = Results(of(*operand));
    }
    add_graph(branch, false);
  }
  results_[&node] = new_tensors(node);
}

// The carries (values that pass from one iteration to the next) use the memory of the call's
// results. Inputs of the body that receive slices have separate memory.
void MethodTensors::add_loop(const Node& node) {
  const Loop loop = loop_of(node);
  results_[&node] = new_tensors(node);
  const Results results = of(node);
  // Each iteration appends a row to the results that follow the carries.
  for (size_t i = loop.inits.size(); i < results.size(); ++i) {
    tensors_[results[i]].value.is_dynamic = true;
  }
  size_t index = 0;
  for (const Node& input : loop.body->nodes()) {
    if (input.kind() != Node::Kind::kPlaceholder) break;
    const size_t at = index++;
    if (at < loop.inits.size()) {
      results_[&input] = {results.at(at)};
    } else if (at < loop.inits.size() + loop.xs.size()) {
      results_[&input] = new_tensors(input);
    } else {
      const Node* operand = loop.others[at - loop.inits.size() - loop.xs.size()].node();
      if (operand != nullptr) results_[&input] = Results(of(*operand));
    }
  }
  add_graph(*loop.body, false);
}

// The carried values use the memory of the call's results.
void MethodTensors::add_while_loop(const Node& node) {
  const WhileLoop loop = while_loop_of(node);
  results_[&node] = new_tensors(node);
  const Results results = of(node);
  for (const Graph* graph : {loop.condition, loop.body}) {
    size_t index = 0;
    for (const Node& input : graph->nodes()) {
      if (input.kind() != Node::Kind::kPlaceholder) break;
      const size_t at = index++;
      if (at < results.size()) {
        results_[&input] = {results[at]};
      } else if (const Node* operand = loop.others[at - results.size()].node()) {
        results_[&input] = Results(of(*operand));
      }
    }
    add_graph(*graph, false);
  }
}

MethodTensors::Results MethodTensors::new_tensors(const Node& node) {
  if (const TensorSpec* spec = node.tensor()) return {new_tensor(node, *spec)};
  const Value::Items* items = node.meta.value.items();
  if (items == nullptr) return {kNoTensor};
  Results results;
  for (const Value& item : *items) {
    results.push_back(item.tensor() == nullptr ? kNoTensor : new_tensor(node, *item.tensor()));
  }
  return results;
}

void MethodTensors::add_scratch(const Node& delegate_call) {
  for (const uint64_t bytes : lowered_module_of(delegate_call).scratch_sizes) {
    if (bytes == 0 || bytes > uint64_t{1} << 59) {
      fail_at(delegate_call,
              fmt::format("its backend requests {} bytes of scratch memory; expected "
                          "1 to 2^59",
                          bytes));
    }
    TensorValue value;
    value.dtype = ScalarType::kByte;
    scratch_[&delegate_call].push_back(new_tensor(delegate_call, std::move(value), bytes));
  }
}

size_t MethodTensors::new_tensor(const Node& node, const TensorSpec& spec) {
  TensorValue value = resolve(node, spec, program_.range_constraints);
  const uint64_t bytes = bytes_of(node, value);
  return new_tensor(node, std::move(value), bytes);
}

size_t MethodTensors::new_tensor(const Node& node, TensorValue value, uint64_t bytes) {
  MethodTensor tensor;
  tensor.value = std::move(value);
  tensor.storage = storages_.size();
  storages_.push_back(
      {.graph = &node.graph(), .bytes = bytes, .is_planned = true, .shared_at = {}});
  tensors_.push_back(std::move(tensor));
  return tensors_.size() - 1;
}

}  // namespace vitrine::aot
