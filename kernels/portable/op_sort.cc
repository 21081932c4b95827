#include <optional>

#include "kernels/util/checks.h"
#include "kernels/util/sort.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void sort_values(KernelContext& context, const Tensor& self, int64_t dim, bool descending,
                 Tensor& values, Tensor& indices) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along) return;
  sort_lines(context, self, *along, size_at(self, *along), descending, values, indices);
}

// The order is always stable.
void sort_values_stable(KernelContext& context, const Tensor& self, std::optional<bool> /*stable*/,
                        int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  sort_values(context, self, dim, descending, values, indices);
}

// Any order is allowed without `sorted`.
void topk_values(KernelContext& context, const Tensor& self, int64_t k, int64_t dim, bool largest,
                 bool /*sorted*/, Tensor& values, Tensor& indices) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along) return;
  if (k < 0 || k > size_at(self, *along)) {
    return context.fail(ErrorCode::kInvalidArgument, "k is %lld, not in 0 to %lld",
                        static_cast<long long>(k), static_cast<long long>(size_at(self, *along)));
  }
  sort_lines(context, self, *along, k, largest, values, indices);
}

}  // namespace

VITRINE_KERNEL(sort_values, "aten::sort.values", sort_values);
VITRINE_KERNEL(sort_values_stable, "aten::sort.values_stable", sort_values_stable);
VITRINE_KERNEL(topk_values, "aten::topk.values", topk_values);

}  // namespace vitrine::portable
