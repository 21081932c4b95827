// Parts of a tensor along one dimension, as slice, select and narrow name them.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/util/layout.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Each gives the layout of the part within `self`, or fails the context. Indices count from the end
// where negative.

// Python's self[..., start:end:step, ...]: bounds are clamped, `step` is positive.
std::optional<Layout> slice_layout(KernelContext& context, const Tensor& self, int64_t dim,
                                   std::optional<int64_t> start, std::optional<int64_t> end,
                                   int64_t step);
// self[..., index, ...]: without the dimension.
std::optional<Layout> select_layout(KernelContext& context, const Tensor& self, int64_t dim,
                                    int64_t index);
// self[..., start:start+length, ...], all of which must be there.
std::optional<Layout> narrow_layout(KernelContext& context, const Tensor& self, int64_t dim,
                                    int64_t start, int64_t length);

// The dimension, of a tensor that has at least one.
std::optional<size_t> existing_dim(KernelContext& context, const Tensor& self, int64_t dim);

}  // namespace vitrine
