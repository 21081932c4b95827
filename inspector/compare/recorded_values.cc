#include "inspector/compare/recorded_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "inspector/join/op_names.h"

namespace vitrine::inspector {
namespace {

using etdump::DebugEvent;
using etdump::DebugTensor;
using etrecord::EdgeGraph;

// The origin of a logged value: an instruction, or an operator inside a delegate.
struct Source {
  int32_t instruction = 0;
  std::string identifier;    // identifier of the operator; empty for the instruction itself
  std::optional<size_t> op;  // position of the operator in the call, if the delegate logged the
                             // position
  auto operator<=>(const Source&) const = default;
};

std::string identifier_of(const DebugEvent& event) {
  if (event.delegate_debug_id != etdump::kUnset) return std::to_string(event.delegate_debug_id);
  return std::string(event.delegate_debug_name);
}

void append_tensors(const DebugEvent& event, std::vector<const DebugTensor*>& tensors) {
  if (const auto* tensor = std::get_if<DebugTensor>(&event.value)) {
    tensors.push_back(tensor);
  } else if (const auto* list = std::get_if<std::vector<DebugTensor>>(&event.value)) {
    for (const DebugTensor& item : *list) tensors.push_back(&item);
  }
}

// True for a kernel that writes to a cache and returns a tensor with arbitrary elements.
bool returns_placeholder(std::string_view kernel) {
  return kernel.starts_with("llama::update_cache.") ||
         kernel.starts_with("llama::update_cache_with_indices.");
}

bool is_of_instruction(const DebugEvent& event) {
  return !event.is_output && event.chain_index != etdump::kUnset;
}

const etdump::Block* last_run_with_values(const etdump::EtDump& trace) {
  for (auto block = trace.blocks.rbegin(); block != trace.blocks.rend(); ++block) {
    if (!block->debug_events.empty()) return &*block;
  }
  return nullptr;
}

struct BoundaryValue {
  size_t node = 0;
  size_t result = 0;
  size_t value = 0;  // index in the graph's values
};

// Returns the results of `nodes` (ascending) that other nodes use or that the program returns.
std::vector<BoundaryValue> boundary_of(const std::vector<size_t>& nodes, const EdgeGraph& graph) {
  std::set<size_t> used(graph.outputs.begin(), graph.outputs.end());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (std::binary_search(nodes.begin(), nodes.end(), i)) continue;
    for (const etrecord::EdgeArgument& argument : graph.nodes[i].arguments) {
      used.insert(argument.values.begin(), argument.values.end());
    }
  }
  std::vector<BoundaryValue> boundary;
  for (const size_t node : nodes) {
    const std::vector<size_t>& results = graph.nodes[node].results;
    for (size_t i = 0; i < results.size(); ++i) {
      if (used.contains(results[i])) boundary.push_back({node, i, results[i]});
    }
  }
  return boundary;
}

bool may_be(const DebugTensor& tensor, const etrecord::EdgeValue& value) {
  return !value.is_static || std::ranges::equal(tensor.sizes, value.sizes);
}

class NodeAssignment {
 public:
  struct Instruction {
    std::string_view kernel;
    bool is_call = false;
  };
  using Instructions = std::map<int32_t, Instruction>;

  NodeAssignment(const etrecord::MethodRecord& record, const Instructions& instructions)
      : record_(record), instructions_(instructions) {
    std::map<etrecord::DebugHandle, std::vector<Use>> uses;
    for (const auto& [instruction, handles] : record.handles_of_instruction) {
      if (!instructions.contains(instruction)) continue;  // the instruction did not run
      for (const etrecord::DebugHandle handle : handles) {
        std::vector<Use>& of_handle = uses[handle];
        if (of_handle.empty() || of_handle.back().instruction != instruction) {
          of_handle.push_back({instruction, 0});
        }
        ++of_handle.back().times;
      }
    }
    for (const auto& [handle, of_handle] : uses) {
      const auto nodes = record.graph.nodes_of_handle.find(handle);
      if (nodes != record.graph.nodes_of_handle.end()) assign(nodes->second, of_handle);
    }
    for (auto& [instruction, nodes] : nodes_of_) std::sort(nodes.begin(), nodes.end());
  }

  // Returns the nodes of an instruction, ascending. Empty if the nodes are unknown.
  const std::vector<size_t>& nodes_of(int32_t instruction) const {
    static const std::vector<size_t> kNone;
    const auto found = nodes_of_.find(instruction);
    return found == nodes_of_.end() || unknown_.contains(instruction) ? kNone : found->second;
  }

 private:
  struct Use {
    int32_t instruction = 0;
    size_t times = 0;
  };

  void assign(const std::vector<size_t>& nodes, const std::vector<Use>& uses) {
    std::vector<Use> calls, kernels;
    for (const Use& use : uses) {
      (instructions_.at(use.instruction).is_call ? calls : kernels).push_back(use);
    }
    if (nodes.size() == 1 && calls.empty()) {
      nodes_of_[kernels.back().instruction].push_back(nodes[0]);
      return;
    }
    std::vector<size_t> remaining = nodes;
    const bool is_unambiguous = assign_kernels(kernels, remaining);
    // `times` counts the handle in the call's list of handles. The list has entries for getitem
    // nodes, which the graph leaves out, so `times` may exceed the number of `nodes`.
    if (calls.size() == 1 && is_unambiguous && remaining.size() <= calls[0].times) {
      std::vector<size_t>& of_call = nodes_of_[calls[0].instruction];
      of_call.insert(of_call.end(), remaining.begin(), remaining.end());
    } else {
      for (const Use& call : calls) unknown_.insert(call.instruction);
    }
  }

  // Assigns nodes to the kernels that run their op, and removes these nodes from `remaining`.
  // Returns false if an op has more or fewer kernels than nodes.
  bool assign_kernels(const std::vector<Use>& kernels, std::vector<size_t>& remaining) {
    std::map<std::string_view, std::vector<int32_t>> by_op;
    for (const Use& use : kernels) {
      by_op[base_name(instructions_.at(use.instruction).kernel)].push_back(use.instruction);
    }
    bool is_unambiguous = true;
    for (const auto& [op, instructions] : by_op) {
      std::vector<size_t> same;
      for (const size_t node : remaining) {
        if (base_name(record_.graph.nodes[node].target) == op) same.push_back(node);
      }
      if (same.size() != instructions.size()) {
        is_unambiguous = false;
        continue;
      }
      for (size_t i = 0; i < same.size(); ++i) nodes_of_[instructions[i]].push_back(same[i]);
      std::erase_if(remaining, [&](size_t node) { return std::ranges::count(same, node) != 0; });
    }
    return is_unambiguous;
  }

  const etrecord::MethodRecord& record_;
  const Instructions& instructions_;
  std::map<int32_t, std::vector<size_t>> nodes_of_;
  std::set<int32_t> unknown_;  // calls whose nodes are unknown
};

class Collector {
 public:
  Collector(const Profile& profile, const etdump::Block& run, const etrecord::MethodRecord* record)
      : profile_(profile), run_(run), record_(record) {
    for (size_t i = 0; i < profile.rows.size(); ++i) {
      const ProfileRow& row = profile.rows[i];
      if (row.where == Where::kControl) continue;
      rows_of_[row.instruction].push_back(i);
      instructions_[row.instruction] = {row.kernel, row.where == Where::kDelegate};
    }
    if (record != nullptr) nodes_.emplace(*record, instructions_);
  }

  RecordedValues collect() {
    std::map<Source, std::vector<size_t>> events;  // indices in debug_events
    for (size_t i = 0; i < run_.debug_events.size(); ++i) {
      const DebugEvent& event = run_.debug_events[i];
      if (event.is_output) {
        append_tensors(event, result_.outputs);
      } else if (is_of_instruction(event) && !is_placeholder(event.instruction_id)) {
        const std::optional<etdump::ValueOrigin> origin = etdump::parse_origin(event.name);
        events[{event.instruction_id, identifier_of(event),
                origin ? std::optional(origin->op) : std::nullopt}]
            .push_back(i);
      }
    }
    for (const auto& [source, positions] : events) {
      if (source.op) add_operator(source, positions);
    }
    for (const auto& [source, positions] : events) {
      if (!source.op) add(source, positions);
    }
    std::sort(result_.values.begin(), result_.values.end(), [](const auto& one, const auto& other) {
      return std::pair(one.order, one.result) < std::pair(other.order, other.result);
    });
    return std::move(result_);
  }

 private:
  bool is_placeholder(int32_t instruction) const {
    const auto found = instructions_.find(instruction);
    return found != instructions_.end() && returns_placeholder(found->second.kernel);
  }

  bool is_from(const etdump::ProfileEvent& event, const Source& source) const {
    if (!event.is_in_instruction() || event.instruction_id != source.instruction) return false;
    if (source.identifier.empty()) return !event.is_delegate_event();
    return event.delegate_debug_id != etdump::kUnset
               ? std::to_string(event.delegate_debug_id) == source.identifier
               : event.delegate_debug_name == source.identifier;
  }

  // Returns the events that the source logged when it last ran. An instruction in a loop logs its
  // values each time it runs; its profile events tell how often. Stock traces have two profile
  // events per kernel call. Only the outer event counts.
  std::span<const size_t> last_events(const Source& source,
                                      const std::vector<size_t>& positions) const {
    // An operator inside a delegate runs once in each call of the delegate, so the delegate calls
    // are counted.
    const Source counted = source.op ? Source{source.instruction, "", {}} : source;
    size_t times = 0;
    for (const etdump::ProfileEvent& event : run_.profile_events) {
      times += is_from(event, counted) && !event.name.starts_with("native_call_") ? 1 : 0;
    }
    const size_t count =
        times > 1 && positions.size() % times == 0 ? positions.size() / times : positions.size();
    return std::span(positions).last(count);
  }

  void add(const Source& source, const std::vector<size_t>& positions) {
    std::vector<const DebugTensor*> tensors;
    const std::span<const size_t> last = last_events(source, positions);
    for (const size_t position : last) append_tensors(run_.debug_events[position], tensors);
    const size_t order = last.back();
    const auto rows = rows_of_.find(source.instruction);
    if (rows == rows_of_.end() || tensors.empty()) return;
    const bool is_call = profile_.rows[rows->second.front()].where == Where::kDelegate;
    if (is_call && source.identifier.empty()) return add_call(source.instruction, order, tensors);
    std::optional<size_t> row = rows->second.back();
    if (!source.identifier.empty()) row = row_of_identifier(source, rows->second);
    std::optional<size_t> node;
    if (source.identifier.empty() && nodes_ && nodes_->nodes_of(source.instruction).size() == 1) {
      node = nodes_->nodes_of(source.instruction)[0];
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      const bool fits = node && may_be_result(*tensors[i], *node, i);
      result_.values.push_back({tensors[i], order, i, row, fits ? node : std::nullopt, {}});
    }
  }

  void add_operator(const Source& source, const std::vector<size_t>& positions) {
    const auto rows = rows_of_.find(source.instruction);
    if (rows == rows_of_.end() || *source.op >= rows->second.size()) return;
    const size_t row_index = rows->second[*source.op];
    const ProfileRow& row = profile_.rows[row_index];
    if (row.identifier != source.identifier || row.is_inserted) return;
    const std::vector<BoundaryValue> boundary = boundary_of_row(rows->second, row_index);
    const std::span<const size_t> last = last_events(source, positions);
    for (const size_t position : last) {
      const DebugEvent& event = run_.debug_events[position];
      const auto* tensor = std::get_if<DebugTensor>(&event.value);
      if (tensor == nullptr) continue;
      const etdump::ValueOrigin origin = *etdump::parse_origin(event.name);
      const RecordedValue value{tensor, position, origin.result, row_index, {}, origin};
      const size_t before = result_.values.size();
      for (const BoundaryValue& expected : results_of(origin.result, last.size(), boundary)) {
        if (const DebugTensor* fitting = fit(*tensor, record_->graph.values[expected.value])) {
          RecordedValue of_node = value;
          of_node.tensor = fitting;
          of_node.node = expected.node;
          of_node.result = expected.result;
          result_.values.push_back(of_node);
        }
      }
      if (result_.values.size() == before) result_.values.push_back(value);
    }
  }

  // Returns the elements of `boundary` that correspond to result `index` of an operator with
  // `count` results. If several nodes dequantize the operator's only result, returns the results of
  // all these nodes. Returns an empty span if the elements are unknown.
  std::span<const BoundaryValue> results_of(size_t index, size_t count,
                                            const std::vector<BoundaryValue>& boundary) const {
    const std::span all(boundary);
    if (boundary.size() == count) return all.subspan(std::min(index, count - 1), 1);
    const auto dequantizes_same = [&](const BoundaryValue& value) {
      const etrecord::EdgeNode& node = record_->graph.nodes[value.node];
      return base_name(node.target).starts_with("dequantize_per_") &&
             node.inputs == record_->graph.nodes[boundary[0].node].inputs;
    };
    return count == 1 && std::ranges::all_of(boundary, dequantizes_same) ? all : all.first(0);
  }

  // Returns the results of the row's nodes that are used outside of the row. Rows of the call may
  // share handles and thus nodes. A single used result belongs to the last of these rows. In all
  // other cases of shared handles, returns an empty list.
  std::vector<BoundaryValue> boundary_of_row(const std::vector<size_t>& rows, size_t row) const {
    if (record_ == nullptr) return {};
    const std::vector<uint32_t>& handles = profile_.rows[row].debug_handles;
    const auto has = [](const std::vector<uint32_t>& list, uint32_t handle) {
      return std::ranges::count(list, handle) != 0;
    };
    std::vector<size_t> nodes;
    bool is_shared = false;
    for (const uint32_t handle : handles) {
      for (const size_t other : rows) {
        if (other == row || !has(profile_.rows[other].debug_handles, handle)) continue;
        if (other > row || profile_.rows[other].debug_handles != handles) return {};
        is_shared = true;
      }
      const auto found = record_->graph.nodes_of_handle.find(handle);
      if (found == record_->graph.nodes_of_handle.end()) continue;
      nodes.insert(nodes.end(), found->second.begin(), found->second.end());
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const std::vector<BoundaryValue> boundary = boundary_of(nodes, record_->graph);
    return is_shared && boundary.size() != 1 ? std::vector<BoundaryValue>() : boundary;
  }

  // Returns the tensor with its dims in the model's order. A delegate may have computed the tensor
  // in channels-last order. Returns null if the sizes match `value` in neither order.
  const DebugTensor* fit(const DebugTensor& tensor, const etrecord::EdgeValue& value) {
    if (may_be(tensor, value)) return &tensor;
    if (tensor.sizes.size() != 4) return nullptr;
    DebugTensor reordered = tensor;
    for (size_t i = 0; i < 4; ++i) {
      static constexpr std::array<size_t, 4> kToLogical = {0, 3, 1, 2};
      reordered.sizes[i] = tensor.sizes[kToLogical[i]];
      reordered.strides[i] = tensor.strides[kToLogical[i]];
    }
    if (!may_be(reordered, value)) return nullptr;
    return &result_.reordered.emplace_back(std::move(reordered));
  }

  bool has_value_of(size_t node, size_t result) const {
    return std::ranges::any_of(result_.values, [&](const RecordedValue& value) {
      return value.origin && value.node == node && value.result == result;
    });
  }

  std::optional<size_t> row_of_identifier(const Source& source,
                                          const std::vector<size_t>& rows) const {
    const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](size_t row) {
      return profile_.rows[row].identifier == source.identifier;
    });
    return found == rows.rend() ? std::nullopt : std::optional(*found);
  }

  bool may_be_result(const DebugTensor& tensor, size_t node, size_t result) const {
    const std::vector<size_t>& results = record_->graph.nodes[node].results;
    return result >= results.size() || may_be(tensor, record_->graph.values[results[result]]);
  }

  void add_call(int32_t instruction, size_t order, std::vector<const DebugTensor*> tensors) {
    std::vector<BoundaryValue> boundary;
    if (record_ != nullptr) {
      // In stock traces, the call's inputs precede its outputs.
      const auto outputs = record_->num_outputs.find(instruction);
      if (outputs != record_->num_outputs.end() && outputs->second > 0 &&
          static_cast<uint64_t>(outputs->second) < tensors.size()) {
        tensors.erase(tensors.begin(), tensors.end() - outputs->second);
      }
      boundary = boundary_of(nodes_->nodes_of(instruction), record_->graph);
    }
    bool fits = record_ != nullptr && boundary.size() == tensors.size();
    for (size_t i = 0; fits && i < tensors.size(); ++i) {
      fits = may_be(*tensors[i], record_->graph.values[boundary[i].value]);
    }
    if (!fits && record_ != nullptr) add_note(instruction, tensors.size(), boundary.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      RecordedValue value{tensors[i], order, i, {}, {}, {}};
      if (fits && has_value_of(boundary[i].node, boundary[i].result)) continue;
      if (fits) {
        value.node = boundary[i].node;
        value.result = boundary[i].result;
        value.row = row_of_node(instruction, *value.node);
      } else if (record_ == nullptr) {
        value.row = rows_of_.at(instruction).back();
      }
      result_.values.push_back(value);
    }
  }

  void add_note(int32_t instruction, size_t recorded, size_t known) {
    const std::string reason =
        nodes_->nodes_of(instruction).empty()
            ? "the instruction's debug handles also belong to ops outside the delegate"
            : fmt::format("outputs in trace ({}) and record ({}) differ in number or shape",
                          recorded, known);
    result_.notes.push_back(fmt::format(
        "instruction {}: the order of the delegate's outputs is unknown: {}", instruction, reason));
  }

  std::optional<size_t> row_of_node(int32_t instruction, size_t node) const {
    const etrecord::DebugHandle handle = record_->graph.nodes[node].debug_handle;
    const std::vector<size_t>& rows = rows_of_.at(instruction);
    const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](size_t row) {
      return std::ranges::count(profile_.rows[row].debug_handles, handle) != 0;
    });
    return found == rows.rend() ? std::nullopt : std::optional(*found);
  }

  const Profile& profile_;
  const etdump::Block& run_;
  const etrecord::MethodRecord* record_;
  std::map<int32_t, std::vector<size_t>> rows_of_;  // keyed by instruction
  NodeAssignment::Instructions instructions_;
  std::optional<NodeAssignment> nodes_;  // set if there is a record
  RecordedValues result_;
};

}  // namespace

bool RecordedValues::has_values_of(size_t row) const {
  return std::ranges::any_of(
      values, [row](const RecordedValue& value) { return value.origin && value.row == row; });
}

RecordedValues recorded_values(const Profile& profile, const etdump::EtDump& trace,
                               const etrecord::MethodRecord* record) {
  const etdump::Block* run = last_run_with_values(trace);
  if (run == nullptr) return {};
  return Collector(profile, *run, record).collect();
}

}  // namespace vitrine::inspector
