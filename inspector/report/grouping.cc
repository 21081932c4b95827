#include "inspector/report/grouping.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_map>

#include "base/text/text_layout.h"
#include "inspector/join/statistics.h"
#include "inspector/report/row_texts.h"

namespace vitrine::inspector {
namespace {

constexpr char kUnknown[] = "(unknown)";
constexpr char kWholeModel[] = "(model)";
constexpr size_t kMaxDepth = 64;  // limits paths, which come from files

// Returns the row that a layout change serves. Returns any other row itself.
const ProfileRow& served_row(const Profile& profile, size_t row) {
  const ProfileRow& own = profile.rows[row];
  return own.inserted_for_row.has_value() ? profile.rows[*own.inserted_for_row - 1] : own;
}

std::vector<std::string> module_path(const ProfileRow& row) {
  std::vector<std::string> path = {kWholeModel};
  if (row.where != Where::kControl && row.source_ops.empty()) {
    path.emplace_back(kUnknown);
    return path;
  }
  const std::string module = printable(module_of(row));
  for (size_t at = 0; at < module.size() && path.size() < kMaxDepth;) {
    const size_t dot = std::min(module.find('.', at), module.size());
    path.push_back(module.substr(at, dot - at));
    at = dot + 1;
  }
  return path;
}

std::string line_of(const ProfileRow& row) {
  if (row.main_op < row.model_lines.size() && !row.model_lines[row.main_op].empty()) {
    return printable(row.model_lines[row.main_op]);
  }
  for (const std::string& line : row.model_lines) {
    if (!line.empty()) return printable(line);
  }
  return kUnknown;
}

std::vector<std::string> delegate_path(const ProfileRow& row) {
  std::vector<std::string> path = {place_type(row)};
  if (row.where == Where::kDelegate) path.push_back(fmt::format("partition {}", row.partition));
  return path;
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool contains(std::string_view text, std::string_view lowered) {
  return std::search(text.begin(), text.end(), lowered.begin(), lowered.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

class Grouper {
 public:
  Grouper(const Profile& profile, const View& view)
      : profile_(profile),
        view_(view),
        window_{.cold = profile.cold_runs, .all = profile.cold_runs + profile.runs},
        sum_(window_.all) {
    for (const char c : view.filter) filter_ += lower(c);
  }

  Grouping make() {
    for (size_t row = 0; row < profile_.rows.size(); ++row) {
      if (matches(row)) {
        add_row(row);
      } else {
        result_.filtered_rows.push_back(row);
      }
    }
    for (size_t root : roots_) measure(root);
    order(roots_);
    for (const size_t root : roots_) flatten(root, 0);
    cut();
    result_.filtered = time_of(result_.filtered_rows);
    result_.others = time_of(result_.other_rows);
    return std::move(result_);
  }

 private:
  struct Node {
    std::string name, label;
    std::vector<size_t> rows;
    std::vector<size_t> children;
    std::unordered_map<std::string, size_t> child_of_label;
    Group group;
  };

  bool matches(size_t index) const {
    if (filter_.empty()) return true;
    const ProfileRow& row = profile_.rows[index];
    const auto any = [&](const std::vector<std::string>& texts) {
      return std::any_of(texts.begin(), texts.end(),
                         [&](const std::string& text) { return contains(text, filter_); });
    };
    return contains(row_texts(row).op, filter_) || contains(op_type(row), filter_) ||
           contains(row.kernel, filter_) || contains(row.delegate, filter_) ||
           contains(place_type(row), filter_) || any(row.source_ops) || any(row.folded_ops) ||
           any(row.modules) || any(row.folded_modules) || any(row.source_lines) ||
           any(row.model_lines);
  }

  // Adds a row to its group, which is created if necessary. With kNone, each row is its own group.
  void add_row(size_t row) {
    if (view_.by == GroupBy::kNone) {
      const std::string name = row_texts(profile_.rows[row]).op;
      roots_.push_back(nodes_.size());
      nodes_.push_back({.name = name,
                        .label = name,
                        .rows = {row},
                        .children = {},
                        .child_of_label = {},
                        .group = {}});
      return;
    }
    std::vector<size_t>* siblings = &roots_;
    std::unordered_map<std::string, size_t>* by_label = &root_of_label_;
    std::string name;
    size_t node = 0;
    const std::vector<std::string> path = view_.is_flat
                                              ? std::vector{group_name(profile_, row, view_.by)}
                                              : group_path(profile_, row, view_.by);
    for (const std::string& label : path) {
      // In a tree of modules, the names below the root leave out the root's name, kWholeModel.
      const bool is_top = name.empty() || name == kWholeModel;
      if (is_top) name.clear();
      if (!is_top) name += view_.by == GroupBy::kModule ? '.' : ' ';
      name += label;
      const auto [found, is_new] = by_label->try_emplace(label, nodes_.size());
      node = found->second;
      if (is_new) {
        siblings->push_back(node);
        nodes_.push_back({.name = name,
                          .label = label,
                          .rows = {},
                          .children = {},
                          .child_of_label = {},
                          .group = {}});
      }
      siblings = &nodes_[node].children;
      by_label = &nodes_[node].child_of_label;
    }
    nodes_[node].rows.push_back(row);
  }

  // Computes the figures of the node's group. Returns all rows of the node and of the nodes below
  // it.
  std::vector<size_t> measure(size_t index) {
    std::vector<size_t> all = nodes_[index].rows;
    const size_t own = all.size();
    for (const size_t child : nodes_[index].children) {
      const std::vector<size_t> below = measure(child);
      all.insert(all.end(), below.begin(), below.end());
    }
    Group& group = nodes_[index].group;
    group.name = nodes_[index].name;
    group.label = nodes_[index].label;
    group.rows = nodes_[index].rows;
    group.num_rows = all.size();
    group.time = time_of(all);
    group.cost.is_float32 = true;
    for (size_t i = 0; i < all.size(); ++i) {
      const ProfileRow& row = profile_.rows[all[i]];
      group.calls += row.calls;
      group.share += row.share;
      if (i < own) group.own_share += row.share;
      if (i < own) group.own_avg += row.time.avg;
      if (!row.cost.has_value()) continue;
      group.cost.flops += row.cost->flops;
      group.cost.bytes += row.cost->bytes;
      group.cost.is_float32 &= row.cost->is_float32;
      group.costed += row.time.p50;
    }
    order(nodes_[index].children);
    return all;
  }

  void order(std::vector<size_t>& siblings) const {
    if (view_.by == GroupBy::kNone || (view_.by == GroupBy::kModule && !view_.is_flat)) return;
    std::stable_sort(siblings.begin(), siblings.end(), [&](size_t a, size_t b) {
      return profile_.typical(nodes_[a].group.time) > profile_.typical(nodes_[b].group.time);
    });
  }

  void flatten(size_t index, size_t depth) {
    nodes_[index].group.depth = depth;
    result_.groups.push_back(std::move(nodes_[index].group));
    for (const size_t child : nodes_[index].children) flatten(child, depth + 1);
  }

  // Keeps only the slowest groups. The parent of a kept group is also kept: it takes at least as
  // long as the group, and precedes the group if their times are equal.
  void cut() {
    std::vector<Group>& groups = result_.groups;
    if (view_.top == 0 || groups.size() <= view_.top) return;
    std::vector<size_t> by_time(groups.size());
    for (size_t i = 0; i < by_time.size(); ++i) by_time[i] = i;
    std::stable_sort(by_time.begin(), by_time.end(), [&](size_t a, size_t b) {
      return profile_.typical(groups[a].time) > profile_.typical(groups[b].time);
    });
    std::vector<bool> is_kept(groups.size());
    for (size_t i = 0; i < view_.top; ++i) is_kept[by_time[i]] = true;
    std::vector<Group> kept;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (is_kept[i]) {
        kept.push_back(std::move(groups[i]));
      } else {
        result_.other_rows.insert(result_.other_rows.end(), groups[i].rows.begin(),
                                  groups[i].rows.end());
      }
    }
    groups = std::move(kept);
  }

  TimeStatistics time_of(const std::vector<size_t>& rows) {
    if (rows.size() == 1) return profile_.rows[rows[0]].time;
    for (const size_t row : rows) sum_.add(profile_.rows[row].samples);
    return statistics_of(sum_.take(), window_);
  }

  const Profile& profile_;
  const View& view_;
  const RunWindow window_;
  std::string filter_;  // in lower case
  SampleSum sum_;
  std::vector<Node> nodes_;
  std::vector<size_t> roots_;
  std::unordered_map<std::string, size_t> root_of_label_;
  Grouping result_;
};

}  // namespace

std::vector<std::string> group_path(const Profile& profile, size_t row, GroupBy by) {
  switch (by) {
    case GroupBy::kOp:
      return {op_type(profile.rows[row])};
    case GroupBy::kDelegate:
      return delegate_path(profile.rows[row]);
    case GroupBy::kModule:
      return module_path(served_row(profile, row));
    case GroupBy::kLine:
      return {line_of(served_row(profile, row))};
    case GroupBy::kNone:
      break;
  }
  return {};
}

std::string group_name(const Profile& profile, size_t row, GroupBy by) {
  return fmt::format("{}",
                     fmt::join(group_path(profile, row, by), by == GroupBy::kModule ? "." : " "));
}

Grouping group_rows(const Profile& profile, const View& view) {
  return Grouper(profile, view).make();
}

}  // namespace vitrine::inspector
