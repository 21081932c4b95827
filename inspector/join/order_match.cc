#include "inspector/join/order_match.h"

#include <algorithm>
#include <cstdint>

namespace vitrine::inspector {

// Finds the longest common subsequence by dynamic programming over suffixes.
std::vector<OrderMatch> match_in_order(const std::vector<std::string_view>& kernels,
                                       const std::vector<std::string_view>& ops,
                                       const DelegateProfile& profile) {
  std::vector<OrderMatch> matches(kernels.size());
  if (kernels.empty() || ops.empty() || kernels.size() >= kMaxMatchCells / (ops.size() + 1)) {
    return matches;
  }
  const size_t width = ops.size() + 1;
  // best[k * width + i] is the largest number of pairs that kernels[k], kernels[k + 1], ... can
  // form with ops[i], ops[i + 1], ...
  std::vector<uint32_t> best((kernels.size() + 1) * width);
  for (size_t k = kernels.size(); k-- > 0;) {
    for (size_t i = ops.size(); i-- > 0;) {
      uint32_t& here = best[k * width + i];
      here = std::max(best[(k + 1) * width + i], best[k * width + i + 1]);
      if (profile.may_run(kernels[k], ops[i]))
        here = std::max(here, best[(k + 1) * width + i + 1] + 1);
    }
  }
  size_t i = 0;
  std::optional<size_t> last_matched;
  for (size_t k = 0; k < kernels.size(); ++k) {
    // A kernel that may be a layout change is matched only if the number of pairs would otherwise
    // be smaller.
    const auto pairs = [&](size_t kernel, size_t op) { return best[kernel * width + op]; };
    const bool may_be_layout_change = profile.may_be_layout_change(kernels[k]);
    const bool is_needed = pairs(k, i) > pairs(k + 1, i);
    size_t op = i;
    while (op < ops.size() &&
           (!profile.may_run(kernels[k], ops[op]) || pairs(k, i) != pairs(k + 1, op + 1) + 1)) {
      ++op;
    }
    if (op < ops.size() && (is_needed || !may_be_layout_change)) {
      matches[k].op = op;
      last_matched = op;
      i = op + 1;
    } else if (may_be_layout_change) {
      matches[k].is_layout_change = true;
    } else if (last_matched.has_value() && profile.may_run(kernels[k], ops[*last_matched])) {
      matches[k].op = last_matched;
    }
  }
  return matches;
}

}  // namespace vitrine::inspector
