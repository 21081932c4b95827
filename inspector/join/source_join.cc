#include "inspector/join/source_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "inspector/join/fold_search.h"
#include "inspector/join/op_names.h"
#include "inspector/join/order_match.h"
#include "inspector/join/plan_choice.h"

namespace vitrine::inspector {
namespace {

using etrecord::DebugHandle;
using etrecord::DelegateEntry;
using etrecord::EdgeGraph;
using etrecord::MethodRecord;
using Place = DelegatePlan::Place;

template <class T>
void append_new(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

// The handles that a delegate's own map gives for an identifier. Some delegates decorate the
// identifiers that they log: then the longest known identifier within it counts.
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
    // Runs last, when the unassigned nodes are known.
    for (const auto& [instruction, call] : trace_.calls) fold(instruction, call);
    write_notes();
    return std::move(join_);
  }

 private:
  // The state of a delegate call while it is joined.
  struct Call {
    const DelegateProfile* profile = nullptr;
    std::optional<DelegatePlan> plan;
    std::vector<size_t> operators;  // rows of operators, in order
  };

  const std::vector<DebugHandle>& handles_of_instruction(int32_t instruction) const {
    static const std::vector<DebugHandle> kNone;
    if (record_ == nullptr) return kNone;
    const auto found = record_->handles_of_instruction.find(instruction);
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

  void join_call(int32_t instruction, const TraceCall& trace_call) {
    CallSource& source = join_.calls[instruction];
    source.delegate = trace_call.delegate;
    const DelegateEntry* entry = nullptr;
    if (record_ != nullptr) {
      const auto found = record_->delegates.find(instruction);
      if (found != record_->delegates.end()) entry = &found->second;
    }
    if (source.delegate.empty() && entry != nullptr) source.delegate = entry->backend;
    source.nodes = nodes_of(handles_of_instruction(instruction));

    Call& call = calls_[instruction];
    for (const size_t row : trace_call.rows) {
      if (trace_.rows[row].kind == TraceRow::Kind::kDelegateCall) {
        join_whole_call(instruction, row);
      } else {
        call.operators.push_back(row);
      }
    }
    find_plan(instruction, call);
    if (call.profile == nullptr) call.profile = find_profile(delegates_, source.delegate);
    if (call.profile == nullptr) call.profile = &unknown_delegate_;
    if (call.plan.has_value()) source.derived_times = call.plan->derived_times;

    join_by_identifiers(instruction, entry, call);
    infer_operators(instruction, call);
    for (const size_t row : call.operators) {
      const RowSource& joined = join_.rows[row];
      if (joined.join == Join::kNone && !joined.is_inserted) ++unjoined_operators_[source.delegate];
    }
  }

  void join_whole_call(int32_t instruction, size_t row) {
    const std::vector<DebugHandle>& handles = handles_of_instruction(instruction);
    if (handles.empty()) return;
    claim(join_.rows[row], nodes_of(handles));
    for (const DebugHandle handle : handles) append_new(join_.rows[row].handles, handle);
  }

  // `entry` may be null.
  void join_by_identifiers(int32_t instruction, const DelegateEntry* entry, const Call& call) {
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
    if (call.plan.has_value() && record_ != nullptr) choose_main_nodes(call);
  }

  void join_by_handle(int32_t instruction, DebugHandle handle, const Call& call, size_t op) {
    RowSource& row = join_.rows[call.operators[op]];
    const std::vector<DebugHandle>& known = handles_of_instruction(instruction);
    row.handles = {handle};
    if (std::find(known.begin(), known.end(), handle) != known.end()) {
      claim(row, nodes_of({handle}));
    } else if (record_ == nullptr && call.plan.has_value()) {
      infer_from_plan(*call.plan, op, row);
    }
  }

  void assign_layout_changes(const Call& call) {
    for (size_t k = 0; k < call.operators.size(); ++k) {
      RowSource& row = join_.rows[call.operators[k]];
      if (row.is_inserted) row.serves = served_row(call, k);
    }
  }

  // If ops share a handle, the type of its node tells which of them an operator runs:
  // the k-th of its type if there are as many operators as ops of it, else the first.
  void choose_main_nodes(const Call& call) {
    std::map<std::pair<DebugHandle, std::string_view>, std::vector<size_t>> rows_of_type;
    for (const DelegatePlan::Node& node : call.plan->nodes) {
      if (node.place != Place::kOperator) continue;
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

  // Where no identifier is known, names and order are all that there is.
  void infer_operators(int32_t instruction, const Call& call) {
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
        row.is_of_whole_call = true;
        for (const DebugHandle handle : handles) append_new(row.handles, handle);
      }
      row.join = Join::kInferred;
      ++inferred_operators_[join_.calls[instruction].delegate];
    }
    assign_layout_changes(call);
  }

  static void infer_from_plan(const DelegatePlan& plan, size_t op, RowSource& row) {
    for (const DelegatePlan::Node& node : plan.nodes) {
      if (node.place == Place::kElided || node.op != op) continue;
      auto& names = node.place == Place::kOperator ? row.inferred_ops : row.inferred_folds;
      names.emplace_back(node.type);
    }
    row.join = Join::kInferred;
  }

  std::optional<size_t> served_row(const Call& call, size_t k) const {
    if (call.plan.has_value()) {
      for (const DelegatePlan::Node& node : call.plan->nodes) {
        if (node.place != Place::kOperator || node.op != k || !node.serves.has_value()) continue;
        const DelegatePlan::Node& served = call.plan->nodes[*node.serves];
        if (served.place == Place::kElided) continue;
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

  void find_plan(int32_t instruction, Call& call) {
    const auto plans = trace_.plans.find(instruction);
    if (plans == trace_.plans.end() || call.operators.empty()) return;
    std::vector<int32_t> identifiers;
    for (const size_t row : call.operators) identifiers.push_back(trace_.rows[row].delegate_id);
    PlanChoice choice = choose_plan(plans->second, identifiers);
    if (choice.why_none.empty()) {
      call.profile = choice.profile;
      call.plan = std::move(choice.plan);
      return;
    }
    join_.notes.push_back(fmt::format(
        "the {} plan of instruction {} is not used: {}; fused ops and layout changes are assigned "
        "by order instead",
        choice.profile->name(), instruction, choice.why_none));
  }

  // ---- Kernels

  void join_kernels() {
    // Several instructions may share a handle, and a handle several nodes: kernels of one name are
    // then paired with nodes of that name in order.
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
      other_kernels_ += has_same ? 0 : 1;
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

  void fold(int32_t instruction, const TraceCall& trace_call) {
    const std::vector<DebugHandle>& handles = handles_of_instruction(instruction);
    if (handles.empty()) return;
    const Call& call = calls_[instruction];
    HandleRows own, absorbed;  // rows that run a handle's node; and those that took it in
    for (const size_t row : trace_call.rows) {
      if (join_.rows[row].is_of_whole_call) continue;
      for (const DebugHandle handle : join_.rows[row].handles) own[handle].push_back(row);
    }
    if (own.empty()) return;  // nothing joined: the call as a whole has the ops
    if (call.plan.has_value()) {
      for (const DelegatePlan::Node& node : call.plan->nodes) {
        if (node.place != Place::kFused || own.contains(node.debug_handle)) continue;
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
      if (record_ == nullptr) continue;  // nothing was to be joined
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
    if (other_kernels_ >= 2 && other_kernels_ * 2 > compared_kernels_) {
      join_.notes.push_back(fmt::format(
          "{} of {} kernels are not the ops that the record has at their instructions: is it the "
          "record of this program?",
          other_kernels_, compared_kernels_));
    }
  }

  static inline const EdgeGraph kNoGraph;

  const MergedTrace& trace_;
  const MethodRecord* record_;
  DelegateProfiles delegates_;
  UnknownDelegate unknown_delegate_;
  FoldSearch fold_search_;
  SourceJoin join_;
  std::map<int32_t, Call> calls_;
  std::vector<bool> is_claimed_;  // by node: stands in a row
  std::map<DebugHandle, size_t> instructions_of_handle_;
  std::map<std::string, size_t> unjoined_operators_;  // by delegate
  std::map<std::string, size_t> inferred_operators_;
  size_t compared_kernels_ = 0;
  size_t other_kernels_ = 0;
};

}  // namespace

SourceJoin join_sources(const MergedTrace& trace, const MethodRecord* method,
                        DelegateProfiles delegates) {
  return Joiner(trace, method, delegates).join();
}

}  // namespace vitrine::inspector
