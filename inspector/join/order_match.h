// Matches what a delegate ran with the nodes that it took, where names and order are all that is
// known: some delegates log their kernels' names and no debug handles.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "inspector/join/delegate_profile.h"

namespace vitrine::inspector {

struct OrderMatch {
  std::optional<size_t> op;       // position in `ops`
  bool is_layout_change = false;  // that no op explains: the lowering's own
};

// `kernels` as logged, in run order ("Convolution (NHWC, F32) IGEMM #3"); `ops` base names in graph
// order ("convolution"). The result, one for each kernel, has as many pairs in ascending order as
// there can be; of those, the earliest ops. A kernel that repeats the one before without an op left
// for it shares that one's op: some nodes run as several operators. Nothing is matched if there are
// more than kMaxMatchCells pairs to look at. `profile` says which kernel may run which op.
std::vector<OrderMatch> match_in_order(const std::vector<std::string_view>& kernels,
                                       const std::vector<std::string_view>& ops,
                                       const DelegateProfile& profile);

inline constexpr size_t kMaxMatchCells = size_t{1} << 26;

}  // namespace vitrine::inspector
