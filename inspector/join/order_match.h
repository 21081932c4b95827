// Matches the kernels that a delegate ran to the nodes of its graph, by name and order. This is for
// delegates that log kernel names but no debug handles.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "inspector/join/delegate_profile.h"

namespace vitrine::inspector {

struct OrderMatch {
  std::optional<size_t> op;       // index in `ops`
  bool is_layout_change = false;  // inserted by the lowering; no op explains it
};

// Returns a match for each kernel. `kernels` are the logged names in run order, such as
// "Convolution (NHWC, F32) IGEMM #3". `ops` are the base names in graph order, such as
// "convolution". `profile` decides which kernel may run which op.
//
// The matched ops ascend, and as many kernels as possible are matched. In a tie, the earliest ops
// win. If `profile` allows it, an unmatched kernel counts as a layout change, or otherwise shares
// the op of the last matched kernel before it. If kernels.size() >= kMaxMatchCells / (ops.size() +
// 1), matches nothing, because the search would need too much memory.
std::vector<OrderMatch> match_in_order(const std::vector<std::string_view>& kernels,
                                       const std::vector<std::string_view>& ops,
                                       const DelegateProfile& profile);

inline constexpr size_t kMaxMatchCells = size_t{1} << 26;

}  // namespace vitrine::inspector
