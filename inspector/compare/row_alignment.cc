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

// The minimum share of common debug handles that must belong to the same op in A and B.
constexpr double kMinAgreement = 0.8;
// Maximum number of cells in the table for the longest common subsequence. A cell takes one byte.
constexpr size_t kMaxSequenceCells = size_t{1} << 24;

using Rows = const std::vector<ProfileRow>&;

// "Convolution (NHWC, F32) IGEMM" -> "Convolution"
std::string_view kernel_family(std::string_view kernel) {
  return kernel.substr(0, kernel.find(" ("));
}

bool is_model_row(const ProfileRow& row) {
  return !row.is_inserted && row.where != Where::kControl;
}

// "aten_add_tensor_3" -> "aten_add_tensor": exports append numbers to repeated names.
std::string_view without_number(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  const bool is_numbered =
      digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '_';
  return is_numbered && digits > 0 ? name.substr(0, digits) : name;
}

// True for quantize and dequantize ops, which each lowering inserts and removes differently.
bool is_requantization(std::string_view op) {
  const std::string_view name = base_name(op);
  return name.starts_with("quantize_per_") || name.starts_with("dequantize_per_");
}

struct Op {
  std::string name, module;
  auto operator<=>(const Op&) const = default;
};

// Returns the row's own ops, followed by its folded ops. Empty if the ops are inferred or unknown.
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

// Disjoint sets of rows (union-find). Rows of B are numbered after the rows of A.
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
    if (link_identical()) {
      collect_groups();
      return std::move(result_);
    }
    link_control();
    if (link_by_handles()) {
      link_rows_without_handles();
    } else {
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

  // Joins rows of A and B with the same key into one set.
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

  // Links row i of A with row i of B if both sides ran the same operators.
  bool link_identical() {
    const auto is_same = [](const ProfileRow& a, const ProfileRow& b) {
      return a.where == b.where && a.delegate == b.delegate && a.partition == b.partition &&
             a.instruction == b.instruction && a.is_inserted == b.is_inserted &&
             without_number(a.kernel) == without_number(b.kernel) &&
             a.debug_handles == b.debug_handles && a.modules == b.modules;
    };
    if (!std::equal(a_.begin(), a_.end(), b_.begin(), b_.end(), is_same)) return false;
    for (size_t i = 0; i < a_.size(); ++i) sets_.join(i, node_b(i));
    const bool has_handles = std::any_of(
        a_.begin(), a_.end(), [](const ProfileRow& row) { return !row.debug_handles.empty(); });
    result_.alignment = has_handles ? Alignment::kHandles : Alignment::kOrder;
    return true;
  }

  // Links the k-th move instruction of A with the k-th move instruction of B. Jumps and frees are
  // linked in the same way.
  void link_control() {
    const auto keys = [](Rows rows) {
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

  struct NamedRow {
    size_t row;
    std::string name;
  };

  struct HandleUse {
    std::vector<size_t> rows;
    std::set<Op> ops;
    std::set<std::string_view> families;  // families of delegates' kernels
  };
  using HandleUses = std::map<uint32_t, HandleUse>;

  static HandleUses uses_of_handles(Rows rows) {
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
  static bool intersect(const std::set<T>& one, const std::set<T>& other) {
    return std::any_of(one.begin(), one.end(), [&](const T& item) { return other.contains(item); });
  }

  // Returns false if a handle is known to belong to different ops in A and B.
  static bool agree(const HandleUse& one, const HandleUse& other) {
    if (!one.ops.empty() && !other.ops.empty()) return intersect(one.ops, other.ops);
    if (!one.families.empty() && !other.families.empty()) {
      return intersect(one.families, other.families);
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
        static_cast<double>(rows_a.size()) < kMinAgreement * static_cast<double>(common)) {
      return false;
    }
    if (rows_a.size() < common) {
      result_.notes.push_back(
          fmt::format("{} of {} debug handles belong to different ops in A and B: their rows are "
                      "not aligned",
                      common - rows_a.size(), common));
    }
    link(rows_a, rows_b);
    result_.alignment = Alignment::kHandles;
    return true;
  }

  // Aligns the rows without handles by kernel name, in run order.
  void link_rows_without_handles() {
    const auto rows_of = [](Rows rows) {
      std::vector<NamedRow> named;
      for (size_t i = 0; i < rows.size(); ++i) {
        if (is_model_row(rows[i]) && rows[i].debug_handles.empty()) {
          named.push_back({i, std::string(without_number(rows[i].kernel))});
        }
      }
      return named;
    };
    const std::vector<NamedRow> a = rows_of(a_);
    const std::vector<NamedRow> b = rows_of(b_);
    if (a.empty() || b.empty()) return;
    result_.notes.push_back(
        fmt::format("{} rows of A and {} rows of B have no debug handle: they are aligned by "
                    "kernel in run order",
                    a.size(), b.size()));
    link_in_order(a, b);
  }

  static bool has_names(Rows rows) {
    size_t named = 0, all = 0;
    for (const ProfileRow& row : rows) {
      if (!is_model_row(row)) continue;
      ++all;
      named += row.join == Join::kExact ? 1 : 0;
    }
    return named * 2 > all;
  }

  // The key {op, module, n} identifies the n-th handle with this op and module. A module that is
  // called twice runs each of its ops twice.
  using OpKey = std::tuple<std::string, std::string, size_t>;

  static std::map<OpKey, std::vector<size_t>> rows_of_ops(Rows rows) {
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
        "A and B have different debug handles (different exports of the model): rows are aligned "
        "by "
        "op and module");
  }

  // Returns the rows with the names by which they are compared. A row without ops has the name of
  // its kernel, as do all rows if `by_kernel` is true. Otherwise, a row is listed once under each
  // of its ops.
  static std::vector<NamedRow> named_rows_of(Rows rows, bool by_kernel) {
    std::vector<NamedRow> named;
    for (size_t i = 0; i < rows.size(); ++i) {
      const ProfileRow& row = rows[i];
      if (!is_model_row(row)) continue;
      if (by_kernel || (row.source_ops.empty() && row.folded_ops.empty())) {
        named.push_back({i, std::string(without_number(row.kernel))});
        continue;
      }
      for (const auto* ops : {&row.source_ops, &row.folded_ops}) {
        for (const std::string& op : *ops) named.push_back({i, short_name(op)});
      }
    }
    return named;
  }

  // True if more than half of the rows are operators of delegates.
  static bool is_mostly_delegated(Rows rows) {
    const auto count = std::count_if(rows.begin(), rows.end(), [](const ProfileRow& row) {
      return row.where == Where::kDelegate && !row.kernel.empty();
    });
    return 2 * static_cast<size_t>(count) > rows.size();
  }

  // Returns the number of names that A and B have in common. A name that occurs n times in both
  // counts n times.
  static size_t common_names(const std::vector<NamedRow>& a, const std::vector<NamedRow>& b) {
    std::map<std::string_view, size_t> counts;
    for (const NamedRow& row : b) ++counts[row.name];
    return static_cast<size_t>(std::count_if(a.begin(), a.end(), [&](const NamedRow& row) {
      const auto found = counts.find(row.name);
      return found != counts.end() && found->second > 0 && found->second-- > 0;
    }));
  }

  void link_by_order() {
    result_.alignment = Alignment::kOrder;
    // If both sides run the same kind of kernels, kernel names are more reliable than guessed ops.
    const bool by_kernel =
        (!has_names(a_) && !has_names(b_)) || (is_mostly_delegated(a_) && is_mostly_delegated(b_));
    std::vector<NamedRow> a = named_rows_of(a_, by_kernel);
    std::vector<NamedRow> b = named_rows_of(b_, by_kernel);
    // An f32 and an int8 program have few kernel names in common. If few names are equal, only
    // kernel families are compared: "Convolution (NHWC, F32) IGEMM" then matches "Convolution
    // (NHWC, QC8) IGEMM".
    if (by_kernel && 2 * common_names(a, b) < std::min(a.size(), b.size())) {
      for (auto* named : {&a, &b}) {
        for (NamedRow& row : *named) row.name = std::string(kernel_family(row.name));
      }
    }
    result_.notes.emplace_back(
        "A or B has no source ops (no record, or a trace without identifiers): rows are aligned by "
        "names in run order, which is a guess if a name recurs");
    link_in_order(a, b);
  }

  // Links the rows of a longest common subsequence of the names.
  void link_in_order(std::span<const NamedRow> a, std::span<const NamedRow> b) {
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
          "from row {} on, A and B differ and are too long to be aligned by names", first + 1));
      return;
    }
    link_common_subsequence(a.subspan(first), b.subspan(first));
  }

  void link_common_subsequence(std::span<const NamedRow> a, std::span<const NamedRow> b) {
    // Dynamic programming over the suffixes of `a` and `b`. The first loop keeps only two rows of
    // lengths, `below` and `here`. The second loop needs the choices of the whole table.
    enum Choice : uint8_t { kBoth, kSkipA, kSkipB };
    std::vector<uint8_t> choices(a.size() * b.size());
    std::vector<uint32_t> below(b.size() + 1), here(b.size() + 1);
    for (size_t i = a.size(); i-- > 0;) {
      for (size_t k = b.size(); k-- > 0;) {
        uint8_t& choice = choices[i * b.size() + k];
        if (a[i].name == b[k].name) {
          here[k] = below[k + 1] + 1;
          choice = kBoth;
        } else if (below[k] >= here[k + 1]) {
          here[k] = below[k];
          choice = kSkipA;
        } else {
          here[k] = here[k + 1];
          choice = kSkipB;
        }
      }
      std::swap(below, here);
    }
    for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
      const uint8_t choice = choices[i * b.size() + k];
      if (choice == kBoth) sets_.join(a[i].row, node_b(b[k].row));
      i += choice != kSkipB ? 1 : 0;
      k += choice != kSkipA ? 1 : 0;
    }
  }

  // Returns the module of a row's ops, or an empty string if the ops are in several modules.
  static std::string module_of(const ProfileRow& row) {
    const std::vector<Op> ops = known_ops(row);
    if (!is_model_row(row) || ops.empty()) return "";
    const bool is_one = std::all_of(ops.begin(), ops.end(),
                                    [&](const Op& op) { return op.module == ops[0].module; });
    return is_one ? ops[0].module : "";
  }

  // Adds each unaligned row to the set with the other side's ops of the row's module, if there is
  // exactly one such set.
  void join_by_module() {
    std::map<size_t, std::pair<bool, bool>> has_rows_of;  // by set: has rows of A, has rows of B
    for (size_t i = 0; i < a_.size(); ++i) has_rows_of[sets_.root(i)].first = true;
    for (size_t i = 0; i < b_.size(); ++i) has_rows_of[sets_.root(node_b(i))].second = true;
    std::vector<std::pair<size_t, size_t>> joins;
    const auto find_joins = [&](Rows rows, size_t first, Rows others, size_t first_other) {
      std::map<std::string, std::set<size_t>> sets_of_module;
      for (size_t i = 0; i < others.size(); ++i) {
        if (!is_model_row(others[i])) continue;
        for (const Op& op : known_ops(others[i])) {
          // Quantize and dequantize ops may only convert the input of the module.
          if (is_requantization(op.name)) continue;
          sets_of_module[op.module].insert(sets_.root(first_other + i));
        }
      }
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto [has_a, has_b] = has_rows_of[sets_.root(first + i)];
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

  // Pairs the inserted layout changes that serve the same set of rows, in order.
  void link_inserted() {
    const auto keys = [this](Rows rows, size_t first) {
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

  void collect_groups() {
    std::map<size_t, RowGroup> groups;
    for (size_t i = 0; i < a_.size(); ++i) groups[sets_.root(i)].rows_a.push_back(i);
    for (size_t i = 0; i < b_.size(); ++i) groups[sets_.root(node_b(i))].rows_b.push_back(i);

    // Sorts the groups by their first rows of A. A group with only rows of B follows the nearest
    // group with rows of A that precedes it in B.
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

  Rows a_;
  Rows b_;
  RowSets sets_;
  RowAlignment result_;
};

}  // namespace

RowAlignment align_rows(const Profile& a, const Profile& b) { return Aligner(a, b).align(); }

}  // namespace vitrine::inspector
