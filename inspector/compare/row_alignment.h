#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inspector/compare/comparison.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

struct RowGroup {
  std::vector<size_t> rows_a, rows_b;  // ascending
};

struct RowAlignment {
  Alignment alignment = Alignment::kHandles;
  // Every row is in exactly one group. The groups are in the order of their first rows of A. A
  // group with only rows of B follows the nearest group with rows of A that precedes it in B.
  std::vector<RowGroup> groups;
  std::vector<std::string> notes;
};

// Aligns rows that have the same source ops, by the first rule that applies (docs/inspecting.md,
// "How rows are aligned"):
// - row by row, if both sides ran the same operators in the same order;
// - by debug handles, if most handles that A and B share belong to the same op in both;
// - by op and module, if both records give the exact ops of most rows;
// - by the longest common subsequence of op names or kernel names.
//
// If only some rows have handles, the rows without handles are aligned by kernel in run order.
// Numbers at the end of kernel names are ignored ("aten_add_tensor_3").
//
// A row that is still unaligned joins the group of the other side's rows in the same module, if
// there is only one such group. For example, a row that runs linear is compared with rows that run
// permute and addmm. Inserted layout changes are aligned by the op that needs them. Moves, jumps
// and frees are aligned in run order.
RowAlignment align_rows(const Profile& a, const Profile& b);

}  // namespace vitrine::inspector
