#include "inspector/compare/value_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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
  } else if (is_complex(a.dtype) != is_complex(b.dtype)) {
    result.why_not = "one is complex";
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

// A node in terms that hold for other lowerings of the same graph, and the result.
struct ValueKey {
  uint32_t handle = 0;
  size_t position = 0;  // among the handle's nodes, of which there are `count`
  size_t count = 0;
  std::string op;
  size_t result = 0;
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
    for (const Pair& pair : pairs_) add(pair);
    add_outputs();
    for (std::string& note : rows_.notes) result_.notes.push_back(std::move(note));
    add_notes("A: ", values_a_);
    add_notes("B: ", values_b_);
    return std::move(result_);
  }

 private:
  struct Pair {
    const RecordedValue* a;
    const RecordedValue* b;
  };
  using Groups = std::map<size_t, size_t>;

  static void check(const char* side, const RecordedValues& values) {
    if (!values.values.empty() || !values.outputs.empty()) return;
    throw InspectorError(
        fmt::format("{} recorded no outputs of ops: run it with --debug_outputs", side));
  }

  void add_notes(const char* side, RecordedValues& values) {
    for (std::string& note : values.notes) result_.notes.push_back(side + note);
  }

  void pair_up(const RecordedValue* a, const RecordedValue* b) {
    // Results that nobody asked for are empty.
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

  // Whether a row tells whose result a value is. Rows of a handle with several nodes do not.
  static bool is_clear(const RecordedValue& value, const ValueRun& run) {
    if (!value.row) return false;
    if (run.record == nullptr) return true;
    return value.node && run.profile.rows[*value.row].source_ops.size() == 1;
  }

  // Matches the last values of both sides in groups of rows where no handle has matched any.
  void match_by_rows() {
    using Key = std::pair<size_t, size_t>;  // group, result
    const auto by_group = [](const RecordedValues& values, const ValueRun& run,
                             const Groups& groups) {
      std::map<Key, const RecordedValue*> last;
      for (const RecordedValue& value : values.values) {
        const auto group = is_clear(value, run) ? groups.find(*value.row) : groups.end();
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

  void add(const Pair& pair) {
    ComparedValue value;
    if (pair.a->row) value.op.rows_a = {*pair.a->row};
    if (pair.b->row) value.op.rows_b = {*pair.b->row};
    add_lines(value.op.rows_a, a_.profile, value.lines);
    if (value.lines.empty()) add_lines(value.op.rows_b, b_.profile, value.lines);
    value.node_op = op_of(*pair.a, a_);
    value.difference = compare_tensors(*pair.a->tensor, *pair.b->tensor);
    value.difference.index = pair.a->result;
    result_.values.push_back(std::move(value));
  }

  void add_outputs() {
    for (size_t i = 0; i < std::max(values_a_.outputs.size(), values_b_.outputs.size()); ++i) {
      const bool in_a = i < values_a_.outputs.size();
      const bool in_b = i < values_b_.outputs.size();
      OutputDifference output;
      if (in_a && in_b) {
        output = compare_tensors(*values_a_.outputs[i], *values_b_.outputs[i]);
      } else {
        output.why_not = fmt::format("only {} has it", in_a ? "A" : "B");
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
  Groups group_of_a_, group_of_b_;  // by row
  std::vector<Pair> pairs_;
  std::vector<const RecordedValue*> done_;
  ValueComparison result_;
};

bool is_below(const OutputDifference& difference, double min_sqnr_db) {
  return difference.why_not.empty() && !(difference.figures.sqnr_db >= min_sqnr_db);
}

}  // namespace

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
