#include "kernels/util/masked.h"

#include <algorithm>
#include <array>

#include "kernels/util/broadcast.h"
#include "kernels/util/checks.h"

namespace vitrine {

std::optional<Masked> broadcast_mask(KernelContext& context, const Tensor& self,
                                     const Tensor& mask) {
  if (mask.dtype() != ScalarType::kBool && mask.dtype() != ScalarType::kByte) {
    context.fail(ErrorCode::kInvalidArgument, "mask is of dtype %s, not bool",
                 scalar_type_name(mask.dtype()));
    return std::nullopt;
  }
  std::array<int32_t, kMaxRank> storage;
  const std::array<const Tensor*, 2> tensors{&self, &mask};
  const auto sizes = broadcast_sizes(context, tensors, storage);
  if (!sizes || !check_data(context, {&self, &mask})) return std::nullopt;
  std::array<int64_t, kMaxRank> wide;
  std::ranges::copy(*sizes, wide.begin());
  Masked result{Layout(self), Layout(mask)};
  const std::span<const int64_t> target(wide.data(), sizes->size());
  if (!result.self.broadcast_to(target) || !result.mask.broadcast_to(target)) return std::nullopt;
  return result;
}

}  // namespace vitrine
