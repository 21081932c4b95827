#include "kernels/util/infer_sizes.h"

#include <algorithm>
#include <array>

#include "kernels/util/checks.h"

namespace vitrine {

std::optional<std::span<const int32_t>> infer_sizes(KernelContext& context,
                                                    std::span<const int64_t> sizes, int64_t numel,
                                                    std::span<int32_t> storage) {
  std::array<int64_t, kMaxRank> known;
  const auto dim = static_cast<size_t>(std::ranges::find(sizes, -1) - sizes.begin());
  const bool infers = dim < sizes.size() && sizes.size() <= kMaxRank;
  if (infers) {
    std::ranges::copy(sizes, known.begin());
    known[dim] = 1;
    sizes = std::span(known).first(sizes.size());
  }
  const auto result = read_sizes(context, sizes, storage);
  if (!result) return std::nullopt;
  int64_t product = 1;
  for (const int32_t size : *result) product *= size;
  if (!infers && product != numel) {
    context.fail(ErrorCode::kInvalidArgument,
                 "the product of the sizes must be %lld, the number of elements",
                 static_cast<long long>(numel));
    return std::nullopt;
  }
  if (infers && (product == 0 || numel % product != 0 || numel / product > INT32_MAX)) {
    context.fail(ErrorCode::kInvalidArgument,
                 "cannot infer the size -1: %lld elements are not a multiple of %lld, or exceed it "
                 "by a factor above 2^31 - 1",
                 static_cast<long long>(numel), static_cast<long long>(product));
    return std::nullopt;
  }
  if (infers) storage[dim] = static_cast<int32_t>(numel / product);
  return result;
}

}  // namespace vitrine
