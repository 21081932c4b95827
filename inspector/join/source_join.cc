#include "inspector/join/source_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "inspector/join/fold_search.h"
#include "inspector/join/op_names.h"
#include "inspector/join/operator_map_choice.h"
#include "inspector/join/order_match.h"

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

// Looks up the identifier of an operator in the delegate map. Some delegates decorate the
// identifiers that they log; then the longest key that the logged identifier contains is used.
const std::vector<DebugHandle>* handles_of(const DelegateEntry& entry, const TraceRow& row) {
  const std::string id = row.delegate_id != etdump::kUnset ? std::to_string(row.delegate_id)
                                                           : std::string(row.delegate_name);
  if (const auto exact = entry.handles_of_id.find(id); exact != entry.handles_of_id.end()) {
    return &exact->second;
  }
  const std::vector<DebugHandle>* handles = nullptr;
  size_t longest = 0;
  for (const auto& [known, its_handles] : entry.handles_of_id) {
    if (known.size() > longest && id.find(known) != std::string::npos) {
      longest = known.size();
      handles = &its_handles;
    }
  }
  return handles;
}

class Joiner {
 public:
  Joiner(const MergedTrace& trace, const MethodRecord* method, DelegateProfiles delegates)
      : trace_(trace),
        record_(method),
        delegates_(delegates),
        unknown_delegate_(delegates),
        fold_search_(method == nullptr ? kNoGraph : method->graph) {
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
    // Must run last, when all other nodes are assigned.
    for (const auto& [instruction, call] : trace_.calls) fold(instruction, call);
    write_notes();
    return std::move(join_);
  }

 private:
  // The state of a delegate call while it is joined.
  struct Call {
    const DelegateProfile* profile = nullptr;
    std::optional<OperatorMap> operator_map;
    std::vector<size_t> operators;  // rows of operators, in order
  };

  bool has_record_of(InstructionId instruction) const {
    return record_ != nullptr && instruction.chain == 0;
  }

  const std::vector<DebugHandle>& handles_of_instruction(InstructionId instruction) const {
    static const std::vector<DebugHandle> kNone;
    if (!has_record_of(instruction)) return kNone;
    const auto found = record_->handles_of_instruction.find(instruction.index);
    return found == record_->handles_of_instruction.end() ? kNone : found->second;
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

  // ---- Delegates

  void join_call(InstructionId instruction, const TraceCall& trace_call) {
    CallSource& source = join_.calls[instruction];
    source.delegate = trace_call.delegate;
    const DelegateEntry* entry = nullptr;
    if (has_record_of(instruction)) {
      const auto found = record_->delegates.find(instruction.index);
      if (found != record_->delegates.end()) entry = &found->second;
    }
    if (source.delegate.empty() && entry != nullptr) source.delegate = entry->backend;
    source.nodes = nodes_of(handles_of_instruction(instruction));

    Call& call = calls_[instruction];
    for (const size_t row : trace_call.rows) {
      if (trace_.rows[row].kind == TraceRow::Kind::kDelegateCall) {
        join_silent_call(instruction, row);
      } else {
        call.operators.push_back(row);
      }
    }
    find_operator_map(instruction, call);
    if (call.profile == nullptr) call.profile = find_profile(delegates_, source.delegate);
    if (call.profile == nullptr) call.profile = &unknown_delegate_;
    if (call.operator_map.has_value()) source.derived_times = call.operator_map->derived_times;

    join_by_identifiers(instruction, entry, call);
    infer_operators(instruction, call);
    for (const size_t row : call.operators) {
      const RowSource& joined = join_.rows[row];
      if (joined.join == Join::kNone && !joined.is_inserted) ++unjoined_operators_[source.delegate];
    }
  }

  // Joins the single row of a delegate that logged no operators.
  void join_silent_call(InstructionId instruction, size_t row) {
    const std::vector<DebugHandle>& handles = handles_of_instruction(instruction);
    if (handles.empty()) return;
    claim(join_.rows[row], nodes_of(handles));
    for (const DebugHandle handle : handles) append_new(join_.rows[row].handles, handle);
  }

  // `entry` may be null.
  void join_by_identifiers(InstructionId instruction, const DelegateEntry* entry,
                           const Call& call) {
    using Kind = OperatorIdentity::Kind;
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
      } else if (identity.kind == Kind::kMapped && entry != nullptr) {
        const std::vector<DebugHandle>* handles = handles_of(*entry, traced);
        if (handles == nullptr) continue;
        claim(row, nodes_of(*handles));
        row.handles = *handles;
      }
    }
    assign_layout_changes(call);
    if (!call.operator_map.has_value() || !has_record_of(instruction)) return;
    choose_main_nodes(call);
    compare_with_record(instruction, call);
  }

  // Counts the delegate's nodes whose op is not among the record's ops for their handle.
  void compare_with_record(InstructionId instruction, const Call& call) {
    const std::vector<DebugHandle>& known = handles_of_instruction(instruction);
    const std::set<DebugHandle> handles(known.begin(), known.end());
    for (const OperatorMap::Node& node : call.operator_map->nodes) {
      using Kind = OperatorIdentity::Kind;
      const auto id = static_cast<int32_t>(node.debug_handle);
      if (call.profile->identify(id, {}).kind != Kind::kDebugHandle) continue;
      ++compared_nodes_;
      const std::vector<size_t> nodes = nodes_of({node.debug_handle});
      const bool is_same = std::any_of(nodes.begin(), nodes.end(), [&](size_t index) {
        return call.profile->is_op_of_node_type(base_name(record_->graph.nodes[index].target),
                                                node.type);
      });
      if (!is_same || !handles.contains(node.debug_handle)) ++mismatched_nodes_;
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

  // If ops share a handle, the type of the operator map's node decides which of them an operator
  // runs: the k-th op of that type if there are as many operators as such ops, else the first.
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

  // Joins operators by kernel name and order, if no identifier of the call is known.
  void infer_operators(InstructionId instruction, const Call& call) {
    const std::vector<DebugHandle>& handles = handles_of_instruction(instruction);
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
      ++inferred_operators_[join_.calls[instruction].delegate];
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

  // ---- Kernels

  void join_kernels() {
    // Several instructions may share a handle, and several nodes may share it too. Then kernels are
    // paired with nodes of the same name, in order.
    std::map<std::pair<DebugHandle, std::string_view>, std::vector<size_t>> rows_of_name;
    for (size_t i = 0; i < trace_.rows.size(); ++i) {
      const TraceRow& row = trace_.rows[i];
      if (row.kind != TraceRow::Kind::kKernel) continue;
      const std::vector<DebugHandle>& handles = handles_of_instruction(row.instruction);
      if (handles.empty()) {
        infer_from_kernel(row, join_.rows[i]);
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
      ++compared_kernels_;
      const bool has_same = std::any_of(nodes.begin(), nodes.end(), [&](size_t node) {
        return base_name(record_->graph.nodes[node].target) == base_name(kernel);
      });
      mismatched_kernels_ += has_same ? 0 : 1;
    }
    claim(join_.rows[row], std::move(nodes));
    join_.rows[row].handles = handles;
  }

  static void infer_from_kernel(const TraceRow& row, RowSource& source) {
    if (row.kernel.empty()) return;
    source.join = Join::kInferred;
    source.inferred_ops = {op_of_kernel(row.kernel)};
  }

  // ---- Folding

  void fold(InstructionId instruction, const TraceCall& trace_call) {
    const std::vector<DebugHandle>& handles = handles_of_instruction(instruction);
    if (handles.empty()) return;
    const Call& call = calls_[instruction];
    HandleRows own, absorbed;  // rows that run a handle's node, and rows into which it was folded
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
    bool has_new = false;
    for (const size_t node : nodes_of({handle})) {
      if (is_claimed_[node]) continue;
      is_claimed_[node] = true;
      row.folded_nodes.push_back(node);
      has_new = true;
    }
    if (has_new) row.handles.push_back(handle);
  }

  void write_notes() {
    for (const auto& [delegate, count] : unjoined_operators_) {
      const std::string name = delegate.empty() ? "a delegate" : delegate;
      if (record_ == nullptr) continue;
      join_.notes.push_back(fmt::format(
          "{} operators of {} logged no identifier that is in the record: their source ops are "
          "unknown",
          count, name));
    }
    for (const auto& [delegate, count] : inferred_operators_) {
      join_.notes.push_back(fmt::format(
          "{} operators of {} logged no identifier that is in the record: their source ops are "
          "inferred from kernel names and order",
          count, delegate.empty() ? "a delegate" : delegate));
    }
    // Tolerates many kernels that do not match: lowering decomposes ops after the record was made,
    // which changes the kernels.
    warn(mismatched_kernels_, compared_kernels_, 0.8, "kernels");
    warn(mismatched_nodes_, compared_nodes_, 0.5, "operators of delegates");
  }

  // Warns if more than the share `max` does not match.
  void warn(size_t mismatched, size_t compared, double max, const char* what) {
    if (mismatched < 2 || static_cast<double>(mismatched) <= max * static_cast<double>(compared)) {
      return;
    }
    join_.warnings.push_back(
        fmt::format("{} of {} {} do not match the record's ops at their instructions: is this the "
                    "record of this program?",
                    mismatched, compared, what));
  }

  static inline const EdgeGraph kNoGraph;

  const MergedTrace& trace_;
  const MethodRecord* record_;
  DelegateProfiles delegates_;
  UnknownDelegate unknown_delegate_;
  FoldSearch fold_search_;
  SourceJoin join_;
  std::map<InstructionId, Call> calls_;
  std::vector<bool> is_claimed_;  // indexed by node: true if a row has it
  std::map<DebugHandle, size_t> instructions_of_handle_;
  std::map<std::string, size_t> unjoined_operators_;  // keyed by delegate
  std::map<std::string, size_t> inferred_operators_;
  size_t compared_kernels_ = 0;
  size_t mismatched_kernels_ = 0;
  size_t compared_nodes_ = 0;
  size_t mismatched_nodes_ = 0;
};

}  // namespace

SourceJoin join_sources(const MergedTrace& trace, const MethodRecord* method,
                        DelegateProfiles delegates) {
  return Joiner(trace, method, delegates).join();
}

}  // namespace vitrine::inspector
