#include "inspector/join/source_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "inspector/join/fold_search.h"
#include "inspector/join/identifier_lookup.h"
#include "inspector/join/join_notes.h"
#include "inspector/join/op_names.h"
#include "inspector/join/operator_map_choice.h"
#include "inspector/join/order_match.h"
#include "inspector/join/payload_join.h"

namespace vitrine::inspector {
namespace {

using etrecord::DebugHandle;
using etrecord::DelegateEntry;
using etrecord::EdgeGraph;
using etrecord::MethodRecord;
using Role = OperatorMap::Role;

template <class T>
void append_new(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

template <class T>
const T* find_in(const std::map<int32_t, T>& map, int32_t key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

class Joiner {
 public:
  Joiner(const MergedTrace& trace, const MethodRecord* method, DelegateProfiles delegates,
         const ProgramDelegates& program)
      : trace_(trace),
        record_(method),
        delegates_(delegates),
        program_(program),
        unknown_delegate_(delegates),
        fold_search_(graph()) {
    join_.rows.resize(trace.rows.size());
    if (method == nullptr) return;
    is_claimed_.resize(method->graph.nodes.size());
    for (const auto& [instruction, handles] : method->handles_of_instruction) {
      const std::set<DebugHandle> distinct(handles.begin(), handles.end());
      for (const DebugHandle handle : distinct) ++instructions_of_handle_[handle];
    }
  }

  SourceJoin join() {
    for (const auto& [instruction, call] : trace_.calls) join_call(instruction, call);
    join_kernels();
    // fold() assigns the nodes that no row runs, so all rows must be joined before this loop.
    for (const auto& [instruction, call] : trace_.calls) fold(instruction, call);
    write_notes(counts_, record_ != nullptr, join_);
    return std::move(join_);
  }

 private:
  struct Call {
    const DelegateProfile* profile = nullptr;
    std::optional<OperatorMap> operator_map;
    std::vector<size_t> operators;  // rows of operators, in order
    std::vector<size_t> rows;       // rows of operators and of device phases, in order
  };

  const EdgeGraph& graph() const { return record_ == nullptr ? kNoGraph : record_->graph; }

  bool has_record_of(InstructionId instruction) const {
    return record_ != nullptr && instruction.chain == 0;
  }

  const std::vector<DebugHandle>& handles_of_instruction(InstructionId instruction) const {
    static const std::vector<DebugHandle> kNone;
    const auto* handles = has_record_of(instruction)
                              ? find_in(record_->handles_of_instruction, instruction.index)
                              : nullptr;
    return handles == nullptr ? kNone : *handles;
  }

  std::vector<size_t> nodes_of(const std::vector<DebugHandle>& handles) const {
    std::set<size_t> nodes;
    if (record_ == nullptr) return {};
    for (const DebugHandle handle : handles) {
      const auto found = record_->graph.nodes_of_handle.find(handle);
      if (found != record_->graph.nodes_of_handle.end()) {
        nodes.insert(found->second.begin(), found->second.end());
      }
    }
    return {nodes.begin(), nodes.end()};
  }

  void claim(RowSource& row, std::vector<size_t> nodes) {
    for (const size_t node : nodes) is_claimed_[node] = true;
    row.nodes = std::move(nodes);
    row.join = Join::kExact;
  }

  void join_call(InstructionId instruction, const TraceCall& trace_call) {
    CallSource& source = join_.calls[instruction];
    const DelegateEntry* entry =
        has_record_of(instruction) ? find_in(record_->delegates, instruction.index) : nullptr;
    const ProgramDelegate* content =
        instruction.chain == 0 ? find_in(program_, instruction.index) : nullptr;
    source.delegate = trace_call.delegate;
    if (source.delegate.empty() && entry != nullptr) source.delegate = entry->backend;
    if (source.delegate.empty() && content != nullptr) source.delegate = content->backend;
    source.nodes = nodes_of(handles_of_instruction(instruction));

    Call& call = calls_[instruction];
    for (const size_t row : trace_call.rows) {
      const TraceRow& traced = trace_.rows[row];
      const bool is_call = traced.kind == TraceRow::Kind::kDelegateCall;
      if (is_call && trace_call.rows.size() == 1) {
        join_silent_call(instruction, row);
      } else if (is_call || traced.covers_call) {
        join_whole_call(instruction, row);
      } else if (traced.phase.empty() || traced.queue != nullptr) {
        call.rows.push_back(row);
        if (traced.phase.empty()) call.operators.push_back(row);
      }
    }
    find_operator_map(instruction, call);
    if (call.profile == nullptr) call.profile = trace_call.profile;
    if (call.profile == nullptr) call.profile = find_profile(delegates_, source.delegate);
    if (call.profile == nullptr) call.profile = &unknown_delegate_;
    if (call.operator_map.has_value()) source.derived_times = call.operator_map->derived_times;

    if (!join_by_payload(instruction, content, call)) {
      join_by_identifiers(instruction, entry, call);
      infer_operators(instruction, call);
    }
    for (const size_t row : call.operators) {
      const RowSource& joined = join_.rows[row];
      if (joined.join == Join::kNone && !joined.is_inserted) ++counts_.unjoined[source.delegate];
    }
  }

  // Joins the single row of a delegate that logged no operators.
  void join_silent_call(InstructionId instruction, size_t row) {
    const std::vector<DebugHandle>& handles = handles_of_instruction(instruction);
    if (handles.empty()) return;
    claim(join_.rows[row], nodes_of(handles));
    for (const DebugHandle handle : handles) append_new(join_.rows[row].handles, handle);
  }

  // Joins a row with all nodes of the call. Other rows can still claim these nodes.
  void join_whole_call(InstructionId instruction, size_t row) {
    join_.rows[row].nodes = nodes_of(handles_of_instruction(instruction));
    join_.rows[row].has_all_ops_of_call = true;
    if (!join_.rows[row].nodes.empty()) join_.rows[row].join = Join::kExact;
  }

  // Joins rows by payload operators. Returns false if the events of the rows do not name operators.
  bool join_by_payload(InstructionId instruction, const ProgramDelegate* content,
                       const Call& call) {
    const PayloadJoin joined =
        join_payload(trace_, call.rows, content, nodes_of(handles_of_instruction(instruction)),
                     graph(), *call.profile);
    for (size_t k = 0; k < joined.operators.size(); ++k) {
      const std::optional<PayloadOperator>& op = joined.operators[k];
      if (!op.has_value()) continue;
      RowSource& row = join_.rows[call.rows[k]];
      row.payload_operator = op->index;
      row.join = Join::kInferred;
      if (!joined.nodes[k].has_value()) {
        row.inferred_ops = {op->name};
        continue;
      }
      take_node(*joined.nodes[k], row);
      ++counts_.by_payload[join_.calls[instruction].delegate];
    }
    for (const auto& [node, k] : joined.folds) {
      if (is_claimed_[node]) continue;
      is_claimed_[node] = true;
      RowSource& row = join_.rows[call.rows[k]];
      row.folded_nodes.push_back(node);
      append_new(row.handles, record_->graph.nodes[node].debug_handle);
    }
    return !joined.operators.empty() || call.rows.empty();
  }

  // Joins the row with only this node, and marks the join as inferred.
  void take_node(size_t node, RowSource& row) {
    row.nodes = {node};
    row.handles = {record_->graph.nodes[node].debug_handle};
    row.join = Join::kInferred;
    is_claimed_[node] = true;
  }

  // Joins a call's rows by their identifiers. `entry` is from the record and may be null.
  void join_by_identifiers(InstructionId instruction, const DelegateEntry* entry,
                           const Call& call) {
    using Kind = OperatorIdentity::Kind;
    std::optional<NodesByName> names;
    for (size_t k = 0; k < call.operators.size(); ++k) {
      RowSource& row = join_.rows[call.operators[k]];
      const TraceRow& traced = trace_.rows[call.operators[k]];
      const OperatorIdentity identity =
          call.profile->identify(traced.delegate_id, traced.delegate_name);
      if (identity.kind == Kind::kLayoutChange) {
        row.is_inserted = true;
        row.join = Join::kExact;
      } else if (identity.kind == Kind::kDebugHandle) {
        join_by_handle(instruction, identity.handle, call, k);
      } else if (identity.kind == Kind::kMapped) {
        const std::vector<DebugHandle>* handles =
            entry == nullptr ? nullptr : handles_of(*entry, traced);
        if (handles != nullptr) {
          claim(row, nodes_of(*handles));
          row.handles = *handles;
        } else if (!identity.node.empty()) {
          if (!names) names = nodes_by_name(graph(), nodes_of(handles_of_instruction(instruction)));
          if (const auto node = node_of_name(*names, identity.node)) take_node(*node, row);
        }
      }
    }
    assign_layout_changes(call);
    if (!call.operator_map.has_value() || !has_record_of(instruction)) return;
    choose_main_nodes(call);
    compare_with_record(instruction, call);
  }

  // Counts the nodes of the operator map that do not match the record. A node matches if the record
  // has an op with the node's debug handle and type in this instruction.
  void compare_with_record(InstructionId instruction, const Call& call) {
    const std::vector<DebugHandle>& known = handles_of_instruction(instruction);
    const std::set<DebugHandle> handles(known.begin(), known.end());
    for (const OperatorMap::Node& node : call.operator_map->nodes) {
      using Kind = OperatorIdentity::Kind;
      const auto id = static_cast<int32_t>(node.debug_handle);
      if (call.profile->identify(id, {}).kind != Kind::kDebugHandle) continue;
      ++counts_.compared_nodes;
      const std::vector<size_t> nodes = nodes_of({node.debug_handle});
      const bool is_same = std::any_of(nodes.begin(), nodes.end(), [&](size_t index) {
        return call.profile->is_op_of_node_type(base_name(record_->graph.nodes[index].target),
                                                node.type);
      });
      if (!is_same || !handles.contains(node.debug_handle)) ++counts_.mismatched_nodes;
    }
  }

  void join_by_handle(InstructionId instruction, DebugHandle handle, const Call& call, size_t op) {
    RowSource& row = join_.rows[call.operators[op]];
    const std::vector<DebugHandle>& known = handles_of_instruction(instruction);
    row.handles = {handle};
    if (std::find(known.begin(), known.end(), handle) != known.end()) {
      claim(row, nodes_of({handle}));
    } else if (record_ == nullptr && call.operator_map.has_value()) {
      infer_from_operator_map(*call.operator_map, op, row);
    }
  }

  void assign_layout_changes(const Call& call) {
    for (size_t k = 0; k < call.operators.size(); ++k) {
      RowSource& row = join_.rows[call.operators[k]];
      if (row.is_inserted) row.serves = served_row(call, k);
    }
  }

  // Sets RowSource::main_node. Rows with the same debug handle and node type have the same
  // candidates: their ops that fit the type. If there are as many candidates as rows, the k-th row
  // gets the k-th candidate. Otherwise, all of these rows get the first candidate.
  void choose_main_nodes(const Call& call) {
    std::map<std::pair<DebugHandle, std::string_view>, std::vector<size_t>> rows_of_type;
    for (const OperatorMap::Node& node : call.operator_map->nodes) {
      if (node.role != Role::kOperator) continue;
      rows_of_type[{node.debug_handle, node.type}].push_back(call.operators[node.op]);
    }
    for (const auto& [key, rows] : rows_of_type) {
      std::vector<size_t> candidates;
      const std::vector<size_t>& nodes = join_.rows[rows[0]].nodes;
      for (size_t i = 0; i < nodes.size(); ++i) {
        const std::string_view op = base_name(record_->graph.nodes[nodes[i]].target);
        if (call.profile->is_op_of_node_type(op, key.second)) candidates.push_back(i);
      }
      if (candidates.empty()) continue;
      const bool has_pairs = candidates.size() == rows.size();
      for (size_t k = 0; k < rows.size(); ++k) {
        join_.rows[rows[k]].main_node = candidates[has_pairs ? k : 0];
      }
    }
  }

  // Joins a call's operators by kernel name and order, unless any of them is already joined.
  void infer_operators(InstructionId instruction, const Call& call) {
    const std::vector<DebugHandle>& handles = handles_of_instruction(instruction);
    if (call.operators.empty()) return;
    const auto is_joined = [&](size_t row) { return join_.rows[row].join != Join::kNone; };
    if (handles.empty() || std::any_of(call.operators.begin(), call.operators.end(), is_joined)) {
      return;
    }
    std::vector<std::string_view> kernels;
    kernels.reserve(call.operators.size());
    for (const size_t row : call.operators) {
      const TraceRow& traced = trace_.rows[row];
      kernels.push_back(traced.delegate_name.empty() ? traced.kernel : traced.delegate_name);
    }
    const std::vector<size_t> nodes = nodes_of(handles);
    std::vector<std::string_view> ops;
    ops.reserve(nodes.size());
    for (const size_t node : nodes) ops.push_back(base_name(record_->graph.nodes[node].target));
    const std::vector<OrderMatch> matches = match_in_order(kernels, ops, *call.profile);
    for (size_t k = 0; k < call.operators.size(); ++k) {
      RowSource& row = join_.rows[call.operators[k]];
      const OrderMatch& match = matches[k];
      if (match.is_layout_change) {
        row.is_inserted = true;
      } else if (match.op.has_value()) {
        const size_t node = nodes[*match.op];
        row.handles = {record_->graph.nodes[node].debug_handle};
        claim(row, nodes_of(row.handles));
        row.main_node = static_cast<size_t>(std::find(row.nodes.begin(), row.nodes.end(), node) -
                                            row.nodes.begin());
      } else {
        row.nodes = nodes;
        row.has_all_ops_of_call = true;
        for (const DebugHandle handle : handles) append_new(row.handles, handle);
      }
      row.join = Join::kInferred;
      ++counts_.inferred[join_.calls[instruction].delegate];
    }
    assign_layout_changes(call);
  }

  static void infer_from_operator_map(const OperatorMap& map, size_t op, RowSource& row) {
    for (const OperatorMap::Node& node : map.nodes) {
      if (node.role == Role::kElided || node.op != op) continue;
      auto& names = node.role == Role::kOperator ? row.inferred_ops : row.inferred_folds;
      names.emplace_back(node.type);
    }
    row.join = Join::kInferred;
  }

  std::optional<size_t> served_row(const Call& call, size_t k) const {
    if (call.operator_map.has_value()) {
      for (const OperatorMap::Node& node : call.operator_map->nodes) {
        if (node.role != Role::kOperator || node.op != k || !node.serves.has_value()) continue;
        const OperatorMap::Node& served = call.operator_map->nodes[*node.serves];
        if (served.role == Role::kElided) continue;
        const size_t row = call.operators[served.op];
        if (!join_.rows[row].is_inserted) return row;
      }
    }
    const auto is_real = [&](size_t row) { return !join_.rows[row].is_inserted; };
    const auto here = call.operators.begin() + static_cast<std::ptrdiff_t>(k);
    const auto next = std::find_if(here, call.operators.end(), is_real);
    if (next != call.operators.end()) return *next;
    const auto before =
        std::find_if(std::make_reverse_iterator(here), call.operators.rend(), is_real);
    if (before != call.operators.rend()) return *before;
    return std::nullopt;
  }

  void find_operator_map(InstructionId instruction, Call& call) {
    const auto maps = trace_.operator_maps.find(instruction);
    if (maps == trace_.operator_maps.end() || call.operators.empty()) return;
    std::vector<int32_t> identifiers;
    for (const size_t row : call.operators) identifiers.push_back(trace_.rows[row].delegate_id);
    OperatorMapChoice choice = choose_operator_map(maps->second, identifiers);
    if (choice.why_none.empty()) {
      call.profile = choice.profile;
      call.operator_map = std::move(choice.operator_map);
      return;
    }
    join_.notes.push_back(
        fmt::format("the {} operator map of instruction {} is not used: {}; fused ops and layout "
                    "changes are assigned "
                    "by order instead",
                    choice.profile->name(), instruction.index, choice.why_none));
  }

  void join_kernels() {
    // If several kernels share a handle, pairs them with nodes of the same name, in order.
    std::map<std::pair<DebugHandle, std::string_view>, std::vector<size_t>> rows_of_name;
    for (size_t i = 0; i < trace_.rows.size(); ++i) {
      const TraceRow& row = trace_.rows[i];
      if (row.kind != TraceRow::Kind::kKernel) continue;
      const std::vector<DebugHandle>& handles = handles_of_instruction(row.instruction);
      if (handles.empty()) {
        if (row.kernel.empty()) continue;
        join_.rows[i].join = Join::kInferred;
        join_.rows[i].inferred_ops = {op_of_kernel(row.kernel)};
      } else if (handles.size() == 1 && instructions_of_handle_[handles[0]] > 1) {
        rows_of_name[{handles[0], base_name(row.kernel)}].push_back(i);
      } else {
        join_kernel(i, handles, nodes_of(handles));
      }
    }
    for (auto& [key, rows] : rows_of_name) {
      const auto& [handle, name] = key;
      const std::vector<size_t> all = nodes_of({handle});
      std::vector<size_t> named;
      for (const size_t node : all) {
        if (base_name(record_->graph.nodes[node].target) == name) named.push_back(node);
      }
      std::sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
        return trace_.rows[a].instruction < trace_.rows[b].instruction;
      });
      for (size_t k = 0; k < rows.size(); ++k) {
        if (named.size() == rows.size()) {
          join_kernel(rows[k], {handle}, {named[k]});
        } else {
          join_kernel(rows[k], {handle}, named.empty() ? all : named);
        }
      }
    }
  }

  void join_kernel(size_t row, const std::vector<DebugHandle>& handles, std::vector<size_t> nodes) {
    const std::string_view kernel = trace_.rows[row].kernel;
    if (!kernel.empty() && !nodes.empty()) {
      ++counts_.compared_kernels;
      const bool has_same = std::any_of(nodes.begin(), nodes.end(), [&](size_t node) {
        return base_name(record_->graph.nodes[node].target) == base_name(kernel);
      });
      counts_.mismatched_kernels += has_same ? 0 : 1;
    }
    claim(join_.rows[row], std::move(nodes));
    join_.rows[row].handles = handles;
  }

  void fold(InstructionId instruction, const TraceCall& trace_call) {
    const std::vector<DebugHandle>& handles = handles_of_instruction(instruction);
    if (handles.empty()) return;
    const Call& call = calls_[instruction];
    HandleRows own, absorbed;  // rows that run a handle's node, and rows into which the node was
                               // folded
    for (const size_t row : trace_call.rows) {
      if (join_.rows[row].has_all_ops_of_call) continue;
      for (const DebugHandle handle : join_.rows[row].handles) own[handle].push_back(row);
    }
    if (own.empty()) return;  // nothing joined: the call as a whole has the ops
    if (call.operator_map.has_value()) {
      for (const OperatorMap::Node& node : call.operator_map->nodes) {
        if (node.role != Role::kFused || own.contains(node.debug_handle)) continue;
        absorbed.try_emplace(node.debug_handle, std::vector{call.operators[node.op]});
      }
    }
    HandleRows targets = own;
    targets.insert(absorbed.begin(), absorbed.end());

    const std::set<DebugHandle> members(handles.begin(), handles.end());
    std::set<DebugHandle> done;
    for (const DebugHandle handle : handles) {
      if (own.contains(handle) || !done.insert(handle).second) continue;
      const auto fused = absorbed.find(handle);
      const std::optional<size_t> row = fused != absorbed.end()
                                            ? std::optional(fused->second.front())
                                            : fold_search_.find(handle, members, targets);
      if (row.has_value()) absorb(join_.rows[*row], handle);
    }
  }

  void absorb(RowSource& row, DebugHandle handle) {
    const size_t before = row.folded_nodes.size();
    for (const size_t node : nodes_of({handle})) {
      if (is_claimed_[node]) continue;
      is_claimed_[node] = true;
      row.folded_nodes.push_back(node);
    }
    if (row.folded_nodes.size() != before) row.handles.push_back(handle);
  }

  static inline const EdgeGraph kNoGraph;

  const MergedTrace& trace_;
  const MethodRecord* record_;
  DelegateProfiles delegates_;
  const ProgramDelegates& program_;
  UnknownDelegate unknown_delegate_;
  FoldSearch fold_search_;
  SourceJoin join_;
  std::map<InstructionId, Call> calls_;
  std::vector<bool> is_claimed_;  // indexed by node: true if a row has the node
  std::map<DebugHandle, size_t> instructions_of_handle_;
  JoinCounts counts_;
};

}  // namespace

SourceJoin join_sources(const MergedTrace& trace, const MethodRecord* method,
                        DelegateProfiles delegates, const ProgramDelegates& program) {
  return Joiner(trace, method, delegates, program).join();
}

}  // namespace vitrine::inspector
