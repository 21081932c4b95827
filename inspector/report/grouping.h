// Groups the rows of a profile and sums each group. Every row counts once, even if it has several
// ops, modules or lines. It counts in one group, in Grouping::filtered or in Grouping::others.
// Therefore, in each run and on average,
//   sum of the groups' own times + filtered + others + unattributed == wall
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

enum class GroupBy : uint8_t {
  kNone,      // every row separately, in run order
  kOp,        // the op that a row runs
  kDelegate,  // delegate, then partition; or the kernels' library
  // A tree of modules. A row belongs to the module that module_of() (row_texts.h) returns. A layout
  // change belongs to the module of the row that needs it.
  kModule,
  kLine,  // file and line of the model's source for the op that a row runs
};

struct Group {
  std::string name;          // full name, such as "features.0.conv"
  std::string label;         // name in its parent, such as "conv"
  size_t depth = 0;          // 0 at the top; parents precede their children
  std::vector<size_t> rows;  // indices of the group's own rows, without the rows of its children
  double own_avg = 0;        // average time without the children, in ns
  double own_share = 0;      // share of the group without its children
  // The following figures include the children of the group.
  size_t num_rows = 0;
  double calls = 0;  // calls per run
  TimeStatistics time;
  double share = 0;   // sum of the rows' shares
  Cost cost;          // sum over the rows whose cost is known
  double costed = 0;  // sum of the medians of the rows with a known cost, in ns
};

struct View {
  GroupBy by = GroupBy::kNone;
  size_t top = 0;  // keeps the N slowest groups and their parents; 0 keeps all
  // Keeps only rows with this text in an op, module, kernel, delegate or line. Ignores case.
  std::string filter;
  bool is_flat = false;  // groups are not nested and have their full names
};

struct Grouping {
  std::vector<Group> groups;
  // Rows that are not in any group. filtered_rows do not match the filter, and other_rows belong to
  // groups that View::top removed.
  std::vector<size_t> filtered_rows;
  std::vector<size_t> other_rows;
  TimeStatistics filtered;
  TimeStatistics others;
};

// Returns the groups. For kNone and for the tree of modules, groups are in run order. Otherwise,
// the slowest group is first.
Grouping group_rows(const Profile& profile, const View& view);

// Returns the path of a row's group from the top. Empty for kNone.
std::vector<std::string> group_path(const Profile& profile, size_t row, GroupBy by);

// Returns the path of a row's group as one name: "(model).layers.0" or "XNNPACK partition 1".
std::string group_name(const Profile& profile, size_t row, GroupBy by);

}  // namespace vitrine::inspector
