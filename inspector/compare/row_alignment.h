// Aligns the rows of two profiles that stand for the same source ops.
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
  std::vector<RowGroup> groups;  // every row once; in A's order, B's own where B runs them
  std::vector<std::string> notes;
};

// Rules (docs/inspecting.md, "How rows are aligned"):
// - handles, if most that both sides know mean the same op on both;
// - else op and module, if both sides have records;
// - else the longest common sequence of op names.
// A row left alone then joins the only group whose other side works in the same module: a linear
// against permute and addmm. Layout changes that the lowerings inserted go with those that serve
// the same op, control flow by its order.
RowAlignment align_rows(const Profile& a, const Profile& b);

}  // namespace vitrine::inspector
