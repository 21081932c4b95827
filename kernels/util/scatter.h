// Elements moved along one dimension to or from places that an index tensor names: gather, scatter.
#pragma once

#include <cstdint>

#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"

namespace vitrine {

// Checks that `index` (Int or Long) has the rank of `target`, whose dimension `dim` it picks from,
// and is not larger than it in the others; likewise not larger than `other` in any, if that is not
// null. A 0-d tensor counts as one element in one dimension.
[[nodiscard]] bool check_scatter_shapes(KernelContext& context, const Tensor& target, size_t dim,
                                        const Tensor& index, const Tensor* other);

// element(offset in target, offset in other) for every element of `index`, in row-major order:
// where index is j at [..., i, ...], target's offset is that of [..., j, ...] and other's that of
// [..., i, ...]. Stops and fails at an index that is out of range.
template <class Element>
void each_indexed(KernelContext& context, const Tensor& target, size_t dim, const Tensor& index,
                  const Layout& other, Element&& element) {
  const std::optional<IndexReader> reader = IndexReader::make(context, index);
  if (!reader || index.numel() == 0) return;
  Layout base = at_least_1d(target);
  const int64_t size = base.sizes[dim];
  const int64_t stride = base.strides[dim];
  base.strides[dim] = 0;
  const Layout layout = at_least_1d(index);
  const BoxLoop<3> loop(layout.size_span(),
                        {layout.strides.data(), base.strides.data(), other.strides.data()},
                        LoopOrder::kRowMajor);
  loop.run({0, 0, 0}, [&](const auto& first, int64_t count) {
    for (int64_t i = 0; i < count && !context.failed(); ++i) {
      const int64_t picked = (*reader)[first[0] + i * loop.row_stride(0)];
      if (!check_index(context, picked, size)) return;
      element(first[1] + i * loop.row_stride(1) + picked * stride,
              first[2] + i * loop.row_stride(2));
    }
  });
}

}  // namespace vitrine
