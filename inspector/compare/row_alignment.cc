#include "inspector/compare/row_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "inspector/join/op_names.h"

namespace vitrine::inspector {
namespace {

// The share of the common handles that must mean the same for the rest to be trusted.
constexpr double kEnoughAgree = 0.8;
// Steps of the search for the longest common sequence (a byte each): 4,000 ops on each side.
constexpr size_t kMaxSequenceCells = size_t{1} << 24;

using Side = const std::vector<ProfileRow>&;

// "Convolution (NHWC, F32) IGEMM" -> "Convolution"
std::string_view kernel_family(std::string_view kernel) {
  return kernel.substr(0, kernel.find(" ("));
}

bool is_model_row(const ProfileRow& row) {
  return !row.is_inserted && row.where != Where::kControl;
}

// Changes of representation come and go with the lowering.
bool is_requantization(std::string_view op) {
  const std::string_view name = base_name(op);
  return name.starts_with("quantize_per_") || name.starts_with("dequantize_per_");
}

struct Op {
  std::string name, module;
  auto operator<=>(const Op&) const = default;
};

// Own ops, then folded ones, without names that are but guesses.
std::vector<Op> known_ops(const ProfileRow& row) {
  std::vector<Op> ops;
  if (row.join != Join::kExact) return ops;
  for (size_t i = 0; i < row.source_ops.size(); ++i) {
    ops.push_back({std::string(base_name(row.source_ops[i])), row.modules[i]});
  }
  for (size_t i = 0; i < row.folded_ops.size(); ++i) {
    ops.push_back({std::string(base_name(row.folded_ops[i])), row.folded_modules[i]});
  }
  return ops;
}

// Sets of rows that grow together. Rows of B are numbered after those of A.
class RowSets {
 public:
  explicit RowSets(size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), size_t{0});
  }
  size_t root(size_t row) {
    while (parents_[row] != row) row = parents_[row] = parents_[parents_[row]];
    return row;
  }
  void join(size_t one, size_t other) { parents_[root(one)] = root(other); }

 private:
  std::vector<size_t> parents_;
};

class Aligner {
 public:
  Aligner(const Profile& a, const Profile& b)
      : a_(a.rows), b_(b.rows), sets_(a.rows.size() + b.rows.size()) {}

  RowAlignment align() {
    link_control();
    if (!link_by_handles()) {
      if (has_names(a_) && has_names(b_)) {
        link_by_ops();
      } else {
        link_by_order();
      }
    }
    join_by_module();
    link_inserted();
    collect_groups();
    return std::move(result_);
  }

 private:
  size_t node_b(size_t row) const { return a_.size() + row; }

  // Rows of both sides that have a key in common become one set.
  template <class Key>
  void link(const std::map<Key, std::vector<size_t>>& a,
            const std::map<Key, std::vector<size_t>>& b) {
    for (const auto& [key, rows] : a) {
      const auto other = b.find(key);
      if (other == b.end()) continue;
      for (const size_t row : rows) sets_.join(row, node_b(other->second[0]));
      for (const size_t row : other->second) sets_.join(node_b(row), node_b(other->second[0]));
    }
  }

  // The k-th move of A with the k-th of B.
  void link_control() {
    const auto keys = [](Side rows) {
      std::map<std::pair<std::string, size_t>, std::vector<size_t>> rows_of;
      std::map<std::string, size_t> counts;
      for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].where == Where::kControl) {
          rows_of[{rows[i].kernel, counts[rows[i].kernel]++}].push_back(i);
        }
      }
      return rows_of;
    };
    link(keys(a_), keys(b_));
  }

  // ---- By handles

  struct HandleUse {
    std::vector<size_t> rows;
    std::set<Op> ops;
    std::set<std::string_view> families;  // of delegates' kernels
  };
  using HandleUses = std::map<uint32_t, HandleUse>;

  static HandleUses uses_of_handles(Side rows) {
    HandleUses uses;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!is_model_row(rows[i])) continue;
      const std::vector<Op> ops = known_ops(rows[i]);
      for (const uint32_t handle : rows[i].debug_handles) {
        HandleUse& use = uses[handle];
        use.rows.push_back(i);
        use.ops.insert(ops.begin(), ops.end());
        if (rows[i].where == Where::kDelegate && !rows[i].kernel.empty()) {
          use.families.insert(kernel_family(rows[i].kernel));
        }
      }
    }
    return uses;
  }

  template <class T>
  static bool meet(const std::set<T>& one, const std::set<T>& other) {
    return std::any_of(one.begin(), one.end(), [&](const T& item) { return other.contains(item); });
  }

  // Whether a handle may mean the same on both sides, as far as is known.
  static bool agree(const HandleUse& one, const HandleUse& other) {
    if (!one.ops.empty() && !other.ops.empty()) return meet(one.ops, other.ops);
    if (!one.families.empty() && !other.families.empty()) {
      return meet(one.families, other.families);
    }
    return true;
  }

  bool link_by_handles() {
    const HandleUses uses_a = uses_of_handles(a_);
    const HandleUses uses_b = uses_of_handles(b_);
    std::map<uint32_t, std::vector<size_t>> rows_a, rows_b;
    size_t common = 0;
    for (const auto& [handle, use] : uses_a) {
      const auto other = uses_b.find(handle);
      if (other == uses_b.end()) continue;
      ++common;
      if (!agree(use, other->second)) continue;
      rows_a[handle] = use.rows;
      rows_b[handle] = other->second.rows;
    }
    if (common == 0 ||
        static_cast<double>(rows_a.size()) < kEnoughAgree * static_cast<double>(common)) {
      return false;
    }
    if (rows_a.size() < common) {
      result_.notes.push_back(
          fmt::format("{} of {} debug handles mean other ops in B than in A: not aligned",
                      common - rows_a.size(), common));
    }
    link(rows_a, rows_b);
    result_.alignment = Alignment::kHandles;
    return true;
  }

  // ---- By op and module

  static bool has_names(Side rows) {
    size_t named = 0, all = 0;
    for (const ProfileRow& row : rows) {
      if (!is_model_row(row)) continue;
      ++all;
      named += row.join == Join::kExact ? 1 : 0;
    }
    return named * 2 > all;
  }

  // {op, module, the how manieth handle that has both}: a module that is called twice has its ops
  // twice; operators that share a handle list the same ops and are one.
  using OpKey = std::tuple<std::string, std::string, size_t>;

  static std::map<OpKey, std::vector<size_t>> rows_of_ops(Side rows) {
    std::map<OpKey, std::vector<size_t>> rows_of;
    std::map<Op, std::map<int64_t, size_t>> ordinals;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!is_model_row(rows[i])) continue;
      std::vector<Op> ops = known_ops(rows[i]);
      const auto is_noise = [](const Op& op) { return is_requantization(op.name); };
      if (!std::all_of(ops.begin(), ops.end(), is_noise)) std::erase_if(ops, is_noise);
      const int64_t group = rows[i].debug_handles.empty() ? -1 - static_cast<int64_t>(i)
                                                          : rows[i].debug_handles.front();
      for (const Op& op : std::set<Op>(ops.begin(), ops.end())) {
        std::map<int64_t, size_t>& of_op = ordinals[op];
        const size_t ordinal = of_op.try_emplace(group, of_op.size()).first->second;
        rows_of[{op.name, op.module, ordinal}].push_back(i);
      }
    }
    return rows_of;
  }

  void link_by_ops() {
    link(rows_of_ops(a_), rows_of_ops(b_));
    result_.alignment = Alignment::kOps;
    result_.notes.emplace_back(
        "the sides number their ops differently (other exports of the model): rows are aligned by "
        "op and module");
  }

  // ---- By order

  struct Step {
    size_t row;
    std::string name;
  };

  // Names without a record are those of kernels, or of the delegate's node types.
  static std::vector<Step> steps_of(Side rows, bool by_kernel) {
    std::vector<Step> steps;
    for (size_t i = 0; i < rows.size(); ++i) {
      const ProfileRow& row = rows[i];
      if (!is_model_row(row)) continue;
      if (by_kernel || (row.source_ops.empty() && row.folded_ops.empty())) {
        steps.push_back({i, row.kernel});
        continue;
      }
      for (const auto* ops : {&row.source_ops, &row.folded_ops}) {
        for (const std::string& op : *ops) steps.push_back({i, short_name(op)});
      }
    }
    return steps;
  }

  // For the most part.
  static bool is_delegated(Side rows) {
    const auto count = std::count_if(rows.begin(), rows.end(), [](const ProfileRow& row) {
      return row.where == Where::kDelegate && !row.kernel.empty();
    });
    return 2 * static_cast<size_t>(count) > rows.size();
  }

  // As many steps of A as have one of their own in B with the same name.
  static size_t common_names(const std::vector<Step>& a, const std::vector<Step>& b) {
    std::map<std::string_view, size_t> left;
    for (const Step& step : b) ++left[step.name];
    return static_cast<size_t>(std::count_if(a.begin(), a.end(), [&](const Step& step) {
      const auto found = left.find(step.name);
      return found != left.end() && found->second > 0 && found->second-- > 0;
    }));
  }

  void link_by_order() {
    result_.alignment = Alignment::kOrder;
    // Where kernels are of one kind they tell more than guessed ops.
    const bool by_kernel =
        (!has_names(a_) && !has_names(b_)) || (is_delegated(a_) && is_delegated(b_));
    std::vector<Step> a = steps_of(a_, by_kernel);
    std::vector<Step> b = steps_of(b_, by_kernel);
    // f32 against int8: "Convolution (NHWC, F32) IGEMM" is never "Convolution (NHWC, QC8) IGEMM".
    if (by_kernel && 2 * common_names(a, b) < std::min(a.size(), b.size())) {
      for (auto* steps : {&a, &b}) {
        for (Step& step : *steps) step.name = std::string(kernel_family(step.name));
      }
    }
    result_.notes.emplace_back(
        "rows of a side are not joined with source ops (no record, or a trace without "
        "identifiers): "
        "they are aligned by names in run order, which is a guess where a name recurs");
    size_t first = 0;  // the common prefix needs no search
    while (first < a.size() && first < b.size() && a[first].name == b[first].name) {
      sets_.join(a[first].row, node_b(b[first].row));
      ++first;
    }
    const size_t rest_a = a.size() - first;
    const size_t rest_b = b.size() - first;
    if (rest_a == 0 || rest_b == 0) return;
    if (rest_a > kMaxSequenceCells / rest_b) {
      result_.notes.push_back(fmt::format(
          "from row {} on the sides differ and are too long to be aligned by names", first + 1));
      return;
    }
    link_longest_sequence(std::span(a).subspan(first), std::span(b).subspan(first));
  }

  void link_longest_sequence(std::span<const Step> a, std::span<const Step> b) {
    // Lengths of the common sequence of the rests, a row of the table at a time; of each cell only
    // the way to go is kept.
    enum Way : uint8_t { kBoth, kSkipA, kSkipB };
    std::vector<uint8_t> ways(a.size() * b.size());
    std::vector<uint32_t> below(b.size() + 1), here(b.size() + 1);
    for (size_t i = a.size(); i-- > 0;) {
      for (size_t k = b.size(); k-- > 0;) {
        uint8_t& way = ways[i * b.size() + k];
        if (a[i].name == b[k].name) {
          here[k] = below[k + 1] + 1;
          way = kBoth;
        } else if (below[k] >= here[k + 1]) {
          here[k] = below[k];
          way = kSkipA;
        } else {
          here[k] = here[k + 1];
          way = kSkipB;
        }
      }
      std::swap(below, here);
    }
    for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
      const uint8_t way = ways[i * b.size() + k];
      if (way == kBoth) sets_.join(a[i].row, node_b(b[k].row));
      i += way != kSkipB ? 1 : 0;
      k += way != kSkipA ? 1 : 0;
    }
  }

  // ---- By module

  // The innermost module that all ops of a row lie in exactly; empty if there are several.
  static std::string module_of(const ProfileRow& row) {
    const std::vector<Op> ops = known_ops(row);
    if (!is_model_row(row) || ops.empty()) return "";
    const bool is_one = std::all_of(ops.begin(), ops.end(),
                                    [&](const Op& op) { return op.module == ops[0].module; });
    return is_one ? ops[0].module : "";
  }

  void join_by_module() {
    std::map<size_t, std::pair<bool, bool>> sides;  // which a set has rows of
    for (size_t i = 0; i < a_.size(); ++i) sides[sets_.root(i)].first = true;
    for (size_t i = 0; i < b_.size(); ++i) sides[sets_.root(node_b(i))].second = true;
    std::vector<std::pair<size_t, size_t>> joins;
    const auto find_joins = [&](Side rows, size_t first, Side others, size_t first_other) {
      std::map<std::string, std::set<size_t>> sets_of_module;
      for (size_t i = 0; i < others.size(); ++i) {
        if (!is_model_row(others[i])) continue;
        for (const Op& op : known_ops(others[i])) {
          sets_of_module[op.module].insert(sets_.root(first_other + i));
        }
      }
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto [has_a, has_b] = sides[sets_.root(first + i)];
        const std::string module = has_a && has_b ? "" : module_of(rows[i]);
        const auto found = sets_of_module.find(module);
        if (module.empty() || found == sets_of_module.end() || found->second.size() != 1) continue;
        joins.emplace_back(first + i, *found->second.begin());
      }
    };
    find_joins(a_, 0, b_, node_b(0));
    find_joins(b_, node_b(0), a_, 0);
    for (const auto& [row, set] : joins) sets_.join(row, set);
  }

  // The k-th layout change for a set of rows with the k-th of the other side.
  void link_inserted() {
    const auto keys = [this](Side rows, size_t first) {
      std::map<std::pair<size_t, size_t>, std::vector<size_t>> rows_of;
      std::map<size_t, size_t> counts;
      for (size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].is_inserted || !rows[i].inserted_for_row.has_value()) continue;
        const size_t served = sets_.root(first + *rows[i].inserted_for_row - 1);
        rows_of[{served, counts[served]++}].push_back(i);
      }
      return rows_of;
    };
    link(keys(a_, 0), keys(b_, node_b(0)));
  }

  // ---- Result

  void collect_groups() {
    std::map<size_t, RowGroup> groups;
    for (size_t i = 0; i < a_.size(); ++i) groups[sets_.root(i)].rows_a.push_back(i);
    for (size_t i = 0; i < b_.size(); ++i) groups[sets_.root(node_b(i))].rows_b.push_back(i);

    // A group stands where its first row of A does, B's own after what B ran before them.
    using Position = std::tuple<size_t, bool, size_t>;
    std::vector<std::pair<Position, RowGroup>> placed;
    std::set<size_t> done;
    size_t after = 0;
    for (size_t i = 0; i < b_.size(); ++i) {
      const RowGroup& group = groups[sets_.root(node_b(i))];
      if (!group.rows_a.empty()) {
        after = group.rows_a.front() + 1;
      } else if (done.insert(sets_.root(node_b(i))).second) {
        placed.push_back({{after, false, i}, group});
      }
    }
    for (const auto& [root, group] : groups) {
      if (!group.rows_a.empty()) placed.push_back({{group.rows_a.front(), true, 0}, group});
    }
    std::sort(placed.begin(), placed.end(),
              [](const auto& one, const auto& other) { return one.first < other.first; });
    for (auto& [position, group] : placed) result_.groups.push_back(std::move(group));
  }

  Side a_;
  Side b_;
  RowSets sets_;
  RowAlignment result_;
};

}  // namespace

RowAlignment align_rows(const Profile& a, const Profile& b) { return Aligner(a, b).align(); }

}  // namespace vitrine::inspector
