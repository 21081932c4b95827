// Broadcasting: shapes are aligned at their last dimensions; sizes agree or one of them is 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// The shape that all of `tensors` broadcast to, put into `storage` (of kMaxRank). Fails the context
// if there is none. A size of 0 with 1 gives 0.
[[nodiscard]] std::optional<std::span<const int32_t>> broadcast_sizes(
    KernelContext& context, std::span<const Tensor* const> tensors, std::span<int32_t> storage);

// Strides of `tensor` as a member of a shape of `rank` dimensions that it broadcasts to: zero along
// the dimensions where one element serves all. `strides` has `rank` places.
void broadcast_strides(const Tensor& tensor, size_t rank, std::span<int64_t> strides);

// Whether `tensor` broadcasts to `sizes` without changing them; fails the context if not. Kernels
// whose output tensor may also be an input call this after resizing.
[[nodiscard]] bool check_broadcastable(KernelContext& context, const Tensor& tensor,
                                       std::span<const int32_t> sizes);

}  // namespace vitrine
