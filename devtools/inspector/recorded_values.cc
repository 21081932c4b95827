#include "devtools/inspector/recorded_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace vitrine::inspector {
namespace {

using etdump::DebugEvent;
using etdump::DebugTensor;
using etrecord::EdgeGraph;
using etrecord::EdgeNode;

// Who logged: an instruction, or an operator inside a delegate.
struct Source {
  int32_t instruction = 0;
  std::string identifier;  // of an operator; empty: the instruction itself
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
  size_t value = 0;  // of the graph
};

// Results of `nodes` (ascending) that other nodes use or that the program returns.
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

class Collector {
 public:
  Collector(const Profile& profile, const etdump::Block& run, const etrecord::MethodRecord* record)
      : profile_(profile), run_(run), record_(record) {
    for (size_t i = 0; i < profile.rows.size(); ++i) {
      const ProfileRow& row = profile.rows[i];
      if (row.where == Where::kControl) continue;
      rows_of_[row.instruction].push_back(i);
    }
  }

  RecordedValues collect() {
    std::map<Source, std::vector<size_t>> events;  // positions in debug_events
    for (size_t i = 0; i < run_.debug_events.size(); ++i) {
      const DebugEvent& event = run_.debug_events[i];
      if (event.is_output) {
        append_tensors(event, result_.outputs);
      } else if (is_of_instruction(event)) {
        events[{event.instruction_id, identifier_of(event)}].push_back(i);
      }
    }
    for (const auto& [source, positions] : events) add(source, positions);
    std::sort(result_.values.begin(), result_.values.end(), [](const auto& one, const auto& other) {
      return std::pair(one.order, one.result) < std::pair(other.order, other.result);
    });
    return std::move(result_);
  }

 private:
  bool is_from(const etdump::ProfileEvent& event, const Source& source) const {
    if (!event.is_in_instruction() || event.instruction_id != source.instruction) return false;
    if (source.identifier.empty()) return !event.is_delegate_event();
    return event.delegate_debug_id != etdump::kUnset
               ? std::to_string(event.delegate_debug_id) == source.identifier
               : event.delegate_debug_name == source.identifier;
  }

  // An instruction in a loop logs as often as it runs: only the last time counts. Stock traces have
  // two profile events a kernel call, of which the outer one counts.
  std::span<const size_t> of_last_time(const Source& source,
                                       const std::vector<size_t>& positions) const {
    size_t times = 0;
    for (const etdump::ProfileEvent& event : run_.profile_events) {
      times += is_from(event, source) && !event.name.starts_with("native_call_") ? 1 : 0;
    }
    const size_t count =
        times > 1 && positions.size() % times == 0 ? positions.size() / times : positions.size();
    return std::span(positions).last(count);
  }

  void add(const Source& source, const std::vector<size_t>& positions) {
    std::vector<const DebugTensor*> tensors;
    const std::span<const size_t> last = of_last_time(source, positions);
    for (const size_t position : last) append_tensors(run_.debug_events[position], tensors);
    const size_t order = last.back();
    const auto rows = rows_of_.find(source.instruction);
    if (rows == rows_of_.end() || tensors.empty()) return;
    const bool is_call = profile_.rows[rows->second.front()].where == Where::kDelegate;
    if (is_call && source.identifier.empty()) return add_call(source.instruction, order, tensors);
    std::optional<size_t> row = rows->second.back();
    if (!source.identifier.empty()) row = row_of_identifier(source, rows->second);
    for (size_t i = 0; i < tensors.size(); ++i) {
      result_.values.push_back({tensors[i], order, i, row, own_handle(row)});
    }
  }

  std::optional<size_t> row_of_identifier(const Source& source,
                                          const std::vector<size_t>& rows) const {
    const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](size_t row) {
      return profile_.rows[row].identifier == source.identifier;
    });
    return found == rows.rend() ? std::nullopt : std::optional(*found);
  }

  std::optional<etrecord::DebugHandle> own_handle(std::optional<size_t> row) const {
    if (!row || profile_.rows[*row].debug_handles.empty()) return std::nullopt;
    return profile_.rows[*row].debug_handles.front();
  }

  // ---- Delegate calls

  void add_call(int32_t instruction, size_t order, std::vector<const DebugTensor*> tensors) {
    std::vector<BoundaryValue> boundary;
    if (record_ != nullptr) {
      // Stock traces have the call's inputs too, before its outputs.
      const auto outputs = record_->num_outputs.find(instruction);
      if (outputs != record_->num_outputs.end() && outputs->second > 0 &&
          static_cast<uint64_t>(outputs->second) < tensors.size()) {
        tensors.erase(tensors.begin(), tensors.end() - outputs->second);
      }
      boundary = boundary_of(nodes_of_call(instruction), record_->graph);
    }
    bool fits = boundary.size() == tensors.size();
    for (size_t i = 0; fits && i < tensors.size(); ++i) {
      fits = may_be(*tensors[i], record_->graph.values[boundary[i].value]);
    }
    if (!fits && record_ != nullptr) {
      result_.notes.push_back(fmt::format(
          "instruction {}: {} recorded tensors, but the record tells {} outputs of the delegate: "
          "which is which is not known",
          instruction, tensors.size(), boundary.size()));
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      RecordedValue value{tensors[i], order, i, {}, {}};
      if (fits) {
        value.handle = record_->graph.nodes[boundary[i].node].debug_handle;
        value.result = boundary[i].result;
        value.row = row_of_handle(instruction, *value.handle);
      } else if (record_ == nullptr) {
        value.row = rows_of_.at(instruction).back();
      }
      result_.values.push_back(value);
    }
  }

  std::vector<size_t> nodes_of_call(int32_t instruction) const {
    std::set<size_t> nodes;
    const auto handles = record_->handles_of_instruction.find(instruction);
    if (handles == record_->handles_of_instruction.end()) return {};
    for (const etrecord::DebugHandle handle : handles->second) {
      const auto found = record_->graph.nodes_of_handle.find(handle);
      if (found != record_->graph.nodes_of_handle.end()) {
        nodes.insert(found->second.begin(), found->second.end());
      }
    }
    return {nodes.begin(), nodes.end()};
  }

  std::optional<size_t> row_of_handle(int32_t instruction, etrecord::DebugHandle handle) const {
    const std::vector<size_t>& rows = rows_of_.at(instruction);
    const auto found = std::find_if(rows.rbegin(), rows.rend(), [&](size_t row) {
      return std::ranges::count(profile_.rows[row].debug_handles, handle) != 0;
    });
    return found == rows.rend() ? std::nullopt : std::optional(*found);
  }

  const Profile& profile_;
  const etdump::Block& run_;
  const etrecord::MethodRecord* record_;
  std::map<int32_t, std::vector<size_t>> rows_of_;  // by instruction
  RecordedValues result_;
};

}  // namespace

RecordedValues recorded_values(const Profile& profile, const etdump::EtDump& trace,
                               const etrecord::MethodRecord* record) {
  const etdump::Block* run = last_run_with_values(trace);
  if (run == nullptr) return {};
  return Collector(profile, *run, record).collect();
}

}  // namespace vitrine::inspector
