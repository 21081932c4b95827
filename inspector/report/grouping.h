// Groups the rows of a profile and sums each group.
//
// Every row stands in exactly one group, so that for every grouping, over all runs and in each,
//   sum of the groups' own times + left out + unattributed == wall
// however many ops, modules and lines a row was joined with.
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
  kModule,  // a tree. A layout change goes with the row that it serves; ops of several modules with
            // what their paths have in common
  kLine,    // file and line of the model's source, of the op that the row runs
};

struct Group {
  std::string name;          // in full: "features.0.conv"
  std::string label;         // within its parent: "conv"
  size_t depth = 0;          // 0 at the top; parents come before their children
  std::vector<size_t> rows;  // positions of its own rows, without those of its children
  size_t num_rows = 0;       // with its children
  double calls = 0;          // likewise, per run; as are the rest:
  TimeStatistics time;
  double share = 0;
  double own_avg = 0;  // average time without the children
  Cost cost;           // of rows whose cost is known ...
  double costed = 0;   // ... and the sum of their medians; ns
};

struct View {
  GroupBy by = GroupBy::kNone;
  size_t top = 0;  // only the N that took longest; a parent is kept with its child. 0: all
  std::string
      filter;  // only rows with this text in an op, module, kernel, delegate or line; any case
};

struct Grouping {
  std::vector<Group> groups;
  // Rows that are in no group: those that the filter does not match, and those beyond the top.
  std::vector<size_t> filtered_rows;
  std::vector<size_t> other_rows;
  TimeStatistics filtered;
  TimeStatistics others;
};

// kModule: children in run order; otherwise groups by time, longest first, and kNone in run order.
Grouping group_rows(const Profile& profile, const View& view);

// The name of a row in a grouping: a path from the top. kNone: empty.
std::vector<std::string> group_path(const Profile& profile, size_t row, GroupBy by);

}  // namespace vitrine::inspector
