#include "kernels/util/slice.h"

#include <algorithm>

#include "kernels/util/checks.h"

namespace vitrine {

std::optional<size_t> existing_dim(KernelContext& context, const Tensor& self, int64_t dim) {
  if (self.rank() == 0) {
    context.fail(ErrorCode::kInvalidArgument, "self must have at least one dimension");
    return std::nullopt;
  }
  return normalize_dim(context, dim, self.rank());
}

std::optional<Layout> slice_layout(KernelContext& context, const Tensor& self, int64_t dim,
                                   std::optional<int64_t> start, std::optional<int64_t> end,
                                   int64_t step) {
  const std::optional<size_t> place = existing_dim(context, self, dim);
  if (!place) return std::nullopt;
  if (step <= 0) {
    context.fail(ErrorCode::kInvalidArgument, "step %lld is not positive",
                 static_cast<long long>(step));
    return std::nullopt;
  }
  const int64_t size = self.size(*place);
  const auto clamped = [size](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  const int64_t first = clamped(start.value_or(0));
  const int64_t last = std::max(first, clamped(end.value_or(size)));
  Layout view(self);
  view.narrow(*place, first, (last - first) / step + ((last - first) % step != 0 ? 1 : 0), step);
  return view;
}

std::optional<Layout> select_layout(KernelContext& context, const Tensor& self, int64_t dim,
                                    int64_t index) {
  const std::optional<size_t> place = existing_dim(context, self, dim);
  if (!place) return std::nullopt;
  const int64_t size = self.size(*place);
  if (index < -size || index >= size) {
    context.fail(ErrorCode::kInvalidArgument, "index %lld is out of range of %lld elements",
                 static_cast<long long>(index), static_cast<long long>(size));
    return std::nullopt;
  }
  Layout view(self);
  view.select(*place, index < 0 ? index + size : index);
  return view;
}

std::optional<Layout> narrow_layout(KernelContext& context, const Tensor& self, int64_t dim,
                                    int64_t start, int64_t length) {
  const std::optional<size_t> place = existing_dim(context, self, dim);
  if (!place) return std::nullopt;
  const int64_t size = self.size(*place);
  if (start >= -size && start < 0) start += size;
  if (start < 0 || length < 0 || start > size || length > size - start) {
    context.fail(ErrorCode::kInvalidArgument,
                 "%lld elements from %lld on are not all among %lld elements",
                 static_cast<long long>(length), static_cast<long long>(start),
                 static_cast<long long>(size));
    return std::nullopt;
  }
  Layout view(self);
  view.narrow(*place, start, length);
  return view;
}

}  // namespace vitrine
