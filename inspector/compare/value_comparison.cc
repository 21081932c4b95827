#include "inspector/compare/value_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "inspector/compare/folded_users.h"
#include "inspector/compare/row_alignment.h"
#include "inspector/join/op_names.h"

namespace vitrine::inspector {
namespace {

using etdump::DebugTensor;

std::string describe(const DebugTensor& tensor) {
  return fmt::format("{}[{}]", scalar_type_name(tensor.dtype), fmt::join(tensor.sizes, ","));
}

OutputDifference compare_tensors(const DebugTensor& a, const DebugTensor& b) {
  OutputDifference result;
  result.a = describe(a);
  result.b = describe(b);
  if (a.sizes != b.sizes) {
    result.why_not = "the shapes differ";
  } else if (const auto reason = why_not_comparable(a.dtype, b.dtype); !reason.empty()) {
    result.why_not = reason;
  } else {
    const std::vector<std::byte> bytes_a = etdump::row_major_bytes(a);
    const std::vector<std::byte> bytes_b = etdump::row_major_bytes(b);
    try {
      result.figures = measure_difference({b.dtype, bytes_b}, {a.dtype, bytes_a});
    } catch (const InspectorError& error) {
      result.why_not = error.what();
    }
  }
  return result;
}

std::string op_of(const RecordedValue& value, const ValueRun& run) {
  if (!value.node) return "";
  return std::string(base_name(run.record->graph.nodes[*value.node].target));
}

// Identifies a result of a node in all lowerings of one graph.
struct ValueKey {
  uint32_t handle = 0;
  size_t position = 0;  // index of the node among the nodes with the handle
  size_t count = 0;     // number of nodes with the handle
  std::string op;
  size_t result = 0;  // index of the result
  auto operator<=>(const ValueKey&) const = default;
};

ValueKey key_of(const RecordedValue& value, const ValueRun& run) {
  const etrecord::EdgeGraph& graph = run.record->graph;
  const uint32_t handle = graph.nodes[*value.node].debug_handle;
  const std::vector<size_t>& nodes = graph.nodes_of_handle.at(handle);
  const auto at = std::find(nodes.begin(), nodes.end(), *value.node);
  return {handle, static_cast<size_t>(at - nodes.begin()), nodes.size(), op_of(value, run),
          value.result};
}

class Matcher {
 public:
  Matcher(const ValueRun& a, const ValueRun& b)
      : a_(a),
        b_(b),
        values_a_(recorded_values(a.profile, a.trace, a.record)),
        values_b_(recorded_values(b.profile, b.trace, b.record)),
        rows_(align_rows(a.profile, b.profile)) {
    for (size_t i = 0; i < rows_.groups.size(); ++i) {
      for (const size_t row : rows_.groups[i].rows_a) group_of_a_[row] = i;
      for (const size_t row : rows_.groups[i].rows_b) group_of_b_[row] = i;
    }
  }

  ValueComparison match() {
    result_.alignment = rows_.alignment;
    result_.recorded_a = values_a_.values.size();
    result_.recorded_b = values_b_.values.size();
    check("A", values_a_);
    check("B", values_b_);
    if (rows_.alignment == Alignment::kHandles) match_by_handles();
    match_by_rows();
    std::sort(pairs_.begin(), pairs_.end(), [](const Pair& one, const Pair& other) {
      return std::pair(one.a->order, one.a->result) < std::pair(other.a->order, other.a->result);
    });
    find_followers();
    result_.unpaired_a = unpaired(values_a_, &Pair::a);
    result_.unpaired_b = unpaired(values_b_, &Pair::b);
    for (const Pair& pair : pairs_) add(pair);
    add_outputs();
    add_advice();
    for (std::string& note : rows_.notes) result_.notes.push_back(std::move(note));
    add_notes("A: ", values_a_);
    add_notes("B: ", values_b_);
    result_.reordered_a = std::move(values_a_.reordered);
    result_.reordered_b = std::move(values_b_.reordered);
    return std::move(result_);
  }

 private:
  struct Pair {
    const RecordedValue* a;
    const RecordedValue* b;
  };
  using Groups = std::map<size_t, size_t>;

  // Returns the number of values of one side without a counterpart. Unused results are recorded as
  // empty tensors and do not count.
  size_t unpaired(const RecordedValues& values, const RecordedValue* Pair::*side) const {
    std::set<const RecordedValue*> paired(done_.begin(), done_.end());
    for (const Pair& pair : pairs_) paired.insert(pair.*side);
    return static_cast<size_t>(std::ranges::count_if(values.values, [&](const auto& value) {
      return !value.tensor->data.empty() && !paired.contains(&value);
    }));
  }

  static void check(const char* side, const RecordedValues& values) {
    if (!values.values.empty() || !values.outputs.empty()) return;
    throw InspectorError(
        fmt::format("{} recorded no outputs of ops: run it with --debug_outputs", side));
  }

  void add_notes(const char* side, RecordedValues& values) {
    for (std::string& note : values.notes) result_.notes.push_back(side + note);
  }

  void pair_up(const RecordedValue* a, const RecordedValue* b) {
    // A result that the graph does not use is recorded as an empty tensor.
    if (a->tensor->data.empty() && b->tensor->data.empty()) return;
    pairs_.push_back({a, b});
    done_.push_back(a);
    done_.push_back(b);
  }

  void match_by_handles() {
    const auto by_key = [](const RecordedValues& values, const ValueRun& run) {
      std::map<ValueKey, const RecordedValue*> of_key;
      for (const RecordedValue& value : values.values) {
        if (value.node) of_key[key_of(value, run)] = &value;
      }
      return of_key;
    };
    const auto of_b = by_key(values_b_, b_);
    for (const auto& [key, a] : by_key(values_a_, a_)) {
      if (const auto b = of_b.find(key); b != of_b.end()) pair_up(a, b->second);
    }
  }

  // True if a value's row identifies the op that produced the value. This is always true for an
  // operator inside a delegate. Otherwise, with a record, the value must have a node and the row
  // must have a single source op.
  static bool is_identified_by_row(const RecordedValue& value, const ValueRun& run) {
    if (!value.row) return false;
    if (value.origin) return true;
    if (run.record == nullptr) return true;
    return value.node && run.profile.rows[*value.row].source_ops.size() == 1;
  }

  // For each result of each group of rows, pairs the last value of A with the last value of B.
  // Values that are already paired are skipped.
  void match_by_rows() {
    using Key = std::pair<size_t, size_t>;  // group, result
    const auto by_group = [](const RecordedValues& values, const ValueRun& run,
                             const Groups& groups) {
      std::map<Key, const RecordedValue*> last;
      for (const RecordedValue& value : values.values) {
        const auto group =
            is_identified_by_row(value, run) ? groups.find(*value.row) : groups.end();
        if (group != groups.end()) last[{group->second, value.result}] = &value;
      }
      return last;
    };
    const auto is_done = [done = std::set(done_.begin(), done_.end())](const RecordedValue* value) {
      return done.contains(value);
    };
    const auto of_b = by_group(values_b_, b_, group_of_b_);
    for (const auto& [key, a] : by_group(values_a_, a_, group_of_a_)) {
      const auto b = of_b.find(key);
      if (b != of_b.end() && !is_done(a) && !is_done(b->second)) pair_up(a, b->second);
    }
  }

  static void add_lines(const std::vector<size_t>& rows, const Profile& profile,
                        std::vector<std::string>& lines) {
    for (const size_t row : rows) {
      for (const std::string& line : profile.rows[row].model_lines) {
        if (!line.empty() && std::ranges::count(lines, line) == 0) lines.push_back(line);
      }
    }
  }

  // An op that one side runs separately after a compared op, and that the other side may have
  // folded into the compared op. `value` is null if the run did not record the result of this op.
  struct Follower {
    std::string op;
    const RecordedValue* value = nullptr;
  };
  using Followers = std::vector<Follower>;

  // Returns true if the row's group has no rows of the other side.
  static bool is_alone(size_t row, const Groups& groups, const std::vector<RowGroup>& rows) {
    const auto group = groups.find(row);
    if (group == groups.end()) return false;
    return rows[group->second].rows_a.empty() || rows[group->second].rows_b.empty();
  }

  // Guesses the followers of a value whose users are unknown. At most the op of the next row in run
  // order is a follower.
  Followers next_followers(const RecordedValue& value, const ValueRun& run,
                           const RecordedValues& values, const Groups& groups) const {
    if (!value.row || *value.row + 1 >= run.profile.rows.size()) return {};
    const size_t next = *value.row + 1;
    const ProfileRow& row = run.profile.rows[next];
    if (row.source_ops.empty() || !is_alone(next, groups, rows_.groups)) return {};
    Follower follower{short_name(row.source_ops.front())};
    if (!may_be_folded(follower.op)) return {};
    for (const RecordedValue& other : values.values) {
      if (other.row == next && other.result == 0) follower.value = &other;
    }
    return {follower};
  }

  static Followers followers(const RecordedValue& value, const ValueRun& run,
                             const RecordedValues& values, const FoldedUsers& users) {
    Followers result;
    for (const size_t user : users.of(*value.node)) {
      Follower follower{short_name(run.record->graph.nodes[user].target)};
      for (const RecordedValue& other : values.values) {
        if (other.node == user && other.result == 0) follower.value = &other;
      }
      result.push_back(follower);
    }
    return result;
  }

  // True if an operator inside a delegate reported the value, and other ops were fused into this
  // operator. False if a record gives the operator's exact ops (Join::kExact).
  static bool is_fused(const RecordedValue& value, const ValueRun& run) {
    if (!value.origin || !value.row) return false;
    const ProfileRow& row = run.profile.rows[*value.row];
    return row.join == Join::kInferred && !row.folded_ops.empty();
  }

  // If the other side computes `op` and its only follower as one op, replaces `value`, the result
  // of `op`, with the result of the follower. Returns false if the values are not comparable.
  static bool follow(const RecordedValue*& value, const Followers& followers, const std::string& op,
                     bool other_is_fused) {
    if (followers.empty()) return true;
    const Follower& follower = followers.front();
    const bool is_norm = follower.op == "batch_norm" && may_hold_batch_norm(op);
    if (followers.size() != 1 || follower.value == nullptr) return false;
    if (!is_norm && !other_is_fused) return false;
    value = follower.value;
    return true;
  }

  // Keeps only the pairs of comparable values, and lists the other pairs with reasons.
  void find_followers() {
    std::optional<FoldedUsers> users_a, users_b;
    if (a_.record != nullptr && b_.record != nullptr) {
      users_a.emplace(a_.record->graph, b_.record->graph, rows_.alignment);
      users_b.emplace(b_.record->graph, a_.record->graph, rows_.alignment);
    }
    std::vector<Pair> kept;
    for (Pair& pair : pairs_) {
      const bool has_nodes = users_a && pair.a->node && pair.b->node;
      Followers of_a = has_nodes ? followers(*pair.a, a_, values_a_, *users_a)
                                 : next_followers(*pair.a, a_, values_a_, group_of_a_);
      Followers of_b = has_nodes ? followers(*pair.b, b_, values_b_, *users_b)
                                 : next_followers(*pair.b, b_, values_b_, group_of_b_);
      // One side may run an activation such as hardswish as one op, and the other side as several
      // ops. These ops were not folded into the preceding op, so they are erased from `of_a` or
      // `of_b`. A batch norm is never part of an activation, so it stays.
      const auto is_part = [](const Follower& follower) { return follower.op != "batch_norm"; };
      if (has_nodes && users_b->has_composite(*pair.b->node)) std::erase_if(of_a, is_part);
      if (has_nodes && users_a->has_composite(*pair.a->node)) std::erase_if(of_b, is_part);
      if (of_a.empty() && of_b.empty()) {
        kept.push_back(pair);
        continue;
      }
      const Pair before = pair;
      const std::string op = name_of(*pair.a, a_);
      if ((of_a.empty() || of_b.empty()) && follow(pair.a, of_a, op, is_fused(*before.b, b_)) &&
          follow(pair.b, of_b, op, is_fused(*before.a, a_))) {
        followed_[pair.a] = before.a;
        followed_[pair.b] = before.b;
        kept.push_back(pair);
        continue;
      }
      const bool in_a = !of_a.empty();
      reject(before,
             fmt::format("{1} runs the {0} after this op as a separate op, but the value of {2} "
                         "may already include the {0}",
                         (in_a ? of_a : of_b).front().op, in_a ? "A" : "B", in_a ? "B" : "A"));
    }
    pairs_ = std::move(kept);
  }

  static std::string name_of(const RecordedValue& value, const ValueRun& run) {
    if (value.node && run.record != nullptr) return short_name(op_of(value, run));
    if (!value.row || run.profile.rows[*value.row].source_ops.empty()) return "";
    return short_name(run.profile.rows[*value.row].source_ops.front());
  }

  // Returns the row of a value. A value that was compared in place of a preceding op's value also
  // has the row of the preceding op, first. Unknown rows are left out.
  std::vector<size_t> rows_of(const RecordedValue* value) const {
    std::vector<size_t> rows;
    const auto before = followed_.find(value);
    if (before != followed_.end() && before->second != value && before->second->row) {
      rows.push_back(*before->second->row);
    }
    if (value->row) rows.push_back(*value->row);
    return rows;
  }

  ComparedOp op_rows(const Pair& pair) const {
    ComparedOp op;
    op.rows_a = rows_of(pair.a);
    op.rows_b = rows_of(pair.b);
    return op;
  }

  void reject(const Pair& pair, std::string reason) {
    result_.not_compared.push_back({op_rows(pair), op_of(*pair.a, a_), std::move(reason)});
  }

  void add(const Pair& pair) {
    ComparedValue value;
    value.difference = compare_tensors(*pair.a->tensor, *pair.b->tensor);
    if (!value.difference.why_not.empty()) return reject(pair, value.difference.why_not);
    value.op = op_rows(pair);
    add_lines(value.op.rows_a, a_.profile, value.lines);
    if (value.lines.empty()) add_lines(value.op.rows_b, b_.profile, value.lines);
    value.node_op = op_of(*pair.a, a_);
    value.difference.index = pair.a->result;
    value.a = *pair.a;
    value.b = *pair.b;
    result_.values.push_back(std::move(value));
  }

  // True if an operator inside a delegate, other than an inserted layout change, reported no value.
  static bool has_hidden_values(const Profile& profile, const RecordedValues& values) {
    for (size_t i = 0; i < profile.rows.size(); ++i) {
      const ProfileRow& row = profile.rows[i];
      if (row.where == Where::kDelegate && !row.is_inserted && !values.has_values_of(i)) {
        return true;
      }
    }
    return false;
  }

  void add_advice() {
    const bool is_complete = result_.unpaired_a + result_.unpaired_b == 0 && !pairs_.empty();
    if (is_complete && result_.not_compared.empty()) return;
    if (has_hidden_values(a_.profile, values_a_) || has_hidden_values(b_.profile, values_b_)) {
      result_.advice =
          "some operators inside delegates reported no values: to compare every op, lower both "
          "models without a backend (pte_lower MODEL.pt2 -o PROGRAM.pte)";
    } else if (!result_.not_compared.empty()) {
      result_.advice =
          "to compare more ops, lower both programs from one exported model with the same options";
    }
  }

  void add_outputs() {
    for (size_t i = 0; i < std::max(values_a_.outputs.size(), values_b_.outputs.size()); ++i) {
      const bool in_a = i < values_a_.outputs.size();
      const bool in_b = i < values_b_.outputs.size();
      OutputDifference output;
      if (in_a && in_b) {
        output = compare_tensors(*values_a_.outputs[i], *values_b_.outputs[i]);
      } else {
        output.why_not = fmt::format("only {} has this output", in_a ? "A" : "B");
        (in_a ? output.a : output.b) = describe(*(in_a ? values_a_ : values_b_).outputs[i]);
      }
      output.index = i;
      result_.outputs.push_back(std::move(output));
    }
  }

  const ValueRun& a_;
  const ValueRun& b_;
  RecordedValues values_a_, values_b_;
  RowAlignment rows_;
  Groups group_of_a_, group_of_b_;  // keyed by row
  std::vector<Pair> pairs_;
  // Maps a compared value to the value that it replaced in follow(), or to itself.
  std::map<const RecordedValue*, const RecordedValue*> followed_;
  std::vector<const RecordedValue*> done_;
  ValueComparison result_;
};

bool is_below(const OutputDifference& difference, double min_sqnr_db) {
  return difference.why_not.empty() && !(difference.figures.sqnr_db >= min_sqnr_db);
}

}  // namespace

bool ValueComparison::has_figures() const {
  return !values.empty() || std::ranges::any_of(outputs, [](const OutputDifference& output) {
    return output.why_not.empty();
  });
}

bool ValueComparison::is_below() const {
  return first_below.has_value() ||
         std::ranges::any_of(outputs, [&](const OutputDifference& output) {
           return inspector::is_below(output, min_sqnr_db);
         });
}

ValueComparison compare_values(const ValueRun& a, const ValueRun& b, double min_sqnr_db) {
  ValueComparison result = Matcher(a, b).match();
  result.min_sqnr_db = min_sqnr_db;
  for (size_t i = 0; i < result.values.size(); ++i) {
    if (!is_below(result.values[i].difference, min_sqnr_db)) continue;
    result.first_below = i;
    break;
  }
  return result;
}

}  // namespace vitrine::inspector
