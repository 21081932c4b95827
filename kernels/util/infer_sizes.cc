#include "kernels/util/infer_sizes.h"

#include <algorithm>
#include <array>

#include "kernels/util/checks.h"

namespace vitrine {

std::optional<std::span<const int32_t>> infer_sizes(KernelContext& context,
                                                    std::span<const int64_t> sizes, int64_t numel,
                                                    std::span<int32_t> storage) {
  std::array<int64_t, kMaxRank> known;
  const auto unknown = std::ranges::find(sizes, -1);
  if (unknown != sizes.end() && sizes.size() <= kMaxRank) {
    std::ranges::copy(sizes, known.begin());
    int64_t& inferred = known[static_cast<size_t>(unknown - sizes.begin())];
    inferred = 1;
    const auto others = read_sizes(context, std::span(known).first(sizes.size()), storage);
    if (!others) return std::nullopt;
    const int64_t product = *checked_numel(*others);
    if (product == 0 || numel % product != 0) {
      context.fail(ErrorCode::kInvalidArgument,
                   "cannot infer the size -1: %lld elements are not a multiple of %lld",
                   static_cast<long long>(numel), static_cast<long long>(product));
      return std::nullopt;
    }
    inferred = numel / product;
    sizes = std::span(known).first(sizes.size());
  }
  const auto result = read_sizes(context, sizes, storage);
  if (result && *checked_numel(*result) != numel) {
    context.fail(ErrorCode::kInvalidArgument,
                 "the product of the sizes must be %lld, the number of elements",
                 static_cast<long long>(numel));
    return std::nullopt;
  }
  return result;
}

}  // namespace vitrine
