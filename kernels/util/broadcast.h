// Broadcasts shapes, which are aligned at their last dimensions. Two aligned sizes must be equal,
// or one of them must be 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Returns the shape to which all `tensors` broadcast. The shape is stored in `storage` (kMaxRank
// elements). Sizes 0 and 1 broadcast to 0. Fails the context if the shapes do not broadcast.
[[nodiscard]] std::optional<std::span<const int32_t>> broadcast_sizes(
    KernelContext& context, std::span<const Tensor* const> tensors, std::span<int32_t> storage);

// Broadcasts `tensor` to a shape with `rank` dimensions, and sets `strides`, which has `rank`
// elements, to the resulting strides. The stride is zero along dimensions in which the tensor is
// repeated.
void broadcast_strides(const Tensor& tensor, size_t rank, std::span<int64_t> strides);

// Suppose that `tensor` is broadcast to the shape of `out`, and that elements are numbered in
// memory order. Returns n if element i of `out` corresponds to element i % n of `tensor`. For
// example, n is out.numel() for equal layouts, 3 for [1,3] in [2,3], and 1 for a single element.
// Returns 0 if no n has this property (for example, for [2,1] in [2,3]), if `tensor` does not
// broadcast to `out`, or if `out` has no elements.
int64_t repeat_period(const Tensor& tensor, const Tensor& out);

// Returns true if `tensor` broadcasts to `sizes`. Otherwise, fails the context. If an output may
// also be an input, kernels must call this after they resize the output, because resizing changes
// the input's shape.
[[nodiscard]] bool check_broadcastable(KernelContext& context, const Tensor& tensor,
                                       std::span<const int32_t> sizes);

}  // namespace vitrine
