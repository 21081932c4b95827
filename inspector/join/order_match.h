// Matches the kernels that a delegate ran to the nodes of its graph, by name and order, for
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

// `kernels` are the logged names in run order ("Convolution (NHWC, F32) IGEMM #3"), `ops` the base
// names in graph order ("convolution"), and `profile` decides which kernel may run which op.
// Returns a match for each kernel. The solution has the largest number of pairs with ascending ops.
// In a tie, the earliest ops win. A kernel without a match counts as a layout change if it may be
// one. Otherwise, if it may run the op of the last matched kernel, it shares that op. Matches
// nothing if there are more than kMaxMatchCells pairs of a kernel and an op.
std::vector<OrderMatch> match_in_order(const std::vector<std::string_view>& kernels,
                                       const std::vector<std::string_view>& ops,
                                       const DelegateProfile& profile);

inline constexpr size_t kMaxMatchCells = size_t{1} << 26;

}  // namespace vitrine::inspector
