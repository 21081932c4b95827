// Broadcasts shapes, aligned at their last dimensions. Aligned sizes must be equal, or one size
// must be 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Returns the shape to which all `tensors` broadcast, in `storage` (kMaxRank elements). Sizes 0 and
// 1 broadcast to 0. Fails the context if the shapes do not broadcast.
[[nodiscard]] std::optional<std::span<const int32_t>> broadcast_sizes(
    KernelContext& context, std::span<const Tensor* const> tensors, std::span<int32_t> storage);

// Sets `strides` to the strides of `tensor`, broadcast to `rank` dimensions. `strides` has `rank`
// elements. Repeated dimensions have stride 0.
void broadcast_strides(const Tensor& tensor, size_t rank, std::span<int64_t> strides);

// Returns the number n for which element i of `out` corresponds to element i % n of `tensor`, if
// `tensor` is broadcast to `out` and elements are counted in memory order: out.numel() for equal
// layouts, 3 for [1,3] in [2,3], 1 for a single element. Returns 0 if n does not exist (for
// example, for [2,1] in [2,3]), if `tensor` does not broadcast, or if `out` has no elements.
int64_t repeat_period(const Tensor& tensor, const Tensor& out);

// Fails the context unless `tensor` broadcasts to `sizes`. Call this after resizing the outputs,
// because an output may also be an input.
[[nodiscard]] bool check_broadcastable(KernelContext& context, const Tensor& tensor,
                                       std::span<const int32_t> sizes);

}  // namespace vitrine
