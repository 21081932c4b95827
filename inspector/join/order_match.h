// Matches what a delegate ran with the nodes that it took, where names and order are all that is
// known: stock XNNPACK logs its kernels' names and no debug handles.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace vitrine::inspector {

struct OrderMatch {
  std::optional<size_t> op;       // position in `ops`
  bool is_layout_change = false;  // a transposition that no op explains: the lowering's own
};

// `kernels` as logged, in run order ("Convolution (NHWC, F32) IGEMM #3"); `ops` base names in graph
// order ("convolution"). The result, one for each kernel, has as many pairs in ascending order as
// there can be; of those, the earliest ops. A kernel that repeats the one before without an op left
// for it shares that one's op: XNNPACK runs some nodes as several operators. Nothing is matched if
// there are more than kMaxMatchCells pairs to look at.
std::vector<OrderMatch> match_in_order(const std::vector<std::string_view>& kernels,
                                       const std::vector<std::string_view>& ops);

inline constexpr size_t kMaxMatchCells = size_t{1} << 26;

// Whether a kernel of that name may run the op: "Fully Connected (NC, F32) GEMM" a 1x1
// "convolution".
bool may_run(std::string_view kernel, std::string_view op);

}  // namespace vitrine::inspector
