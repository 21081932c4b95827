// Reductions. A kernel defines an accumulator and passes it to reduce():
//
//   struct Count {                          // trivially copyable; copied for each output element
//     using In = bool;                      // elements are converted to this REALHBBF16 type
//     using Results = TypeList<int64_t>;    // one type for each output, at most two
//     int64_t seen = 0;
//     void add(std::span<const bool> values);
//     void result(int64_t& count) const;
//   };
//   reduce(context, Count{}, {.common = ScalarType::kBool}, self, mask, keepdim, {&out});
//
// Only add() and result() are instantiated for each accumulator. Tensors may have any dim order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/util/checks.h"
#include "kernels/util/dtype_dispatch.h"
#include "vitrine/kernel_context.h"

namespace vitrine {

struct ReductionRules {
  // If `common` is Half or BFloat16, elements are rounded to `common` before they are added.
  ScalarType common;
  bool logical_order = false;   // true: elements are added in row-major order
  bool needs_elements = false;  // true: a reduction of no elements fails with InvalidArgument
};

// A reduction with its C++ types erased.
struct Reduction {
  static constexpr size_t kMaxOutputs = 2;
  static constexpr size_t kMaxState = 128;

  const void* initial;
  size_t state_size;
  void (*add)(void* state, const void* values, int64_t count);
  void (*result)(const void* state, void* const* results);
  ScalarType in;
  std::array<ScalarType, kMaxOutputs> results;
  ReductionRules rules;
};

// All 16 possible dimensions. Bits beyond a tensor's rank are ignored.
inline constexpr uint32_t kAllDims = 0xffff;

// If `dims` is unset or empty, the mask contains all dimensions.
[[nodiscard]] inline std::optional<uint32_t> reduced_dims(
    KernelContext& context, const Tensor& self, std::optional<std::span<const int64_t>> dims) {
  if (!dims || dims->empty()) return kAllDims;
  return dim_mask(context, *dims, self.rank());
}
[[nodiscard]] inline std::optional<uint32_t> reduced_dim(KernelContext& context, const Tensor& self,
                                                         std::optional<int64_t> dim) {
  if (!dim) return kAllDims;
  return dim_mask(context, {&*dim, 1}, self.rank());
}

// Reduces `self` over the dimensions in `mask`. Resizes each output to self's shape without these
// dimensions, or with size 1 if `keepdim` is true. Skips null outputs.
void run_reduction(KernelContext& context, const Reduction& reduction, const Tensor& self,
                   uint32_t mask, bool keepdim, std::span<Tensor* const> outs);

namespace reduction_internal {

template <class Accumulator, class... R, size_t... I>
void result(const Accumulator& accumulator, void* const* results, TypeList<R...>,
            std::index_sequence<I...>) {
  accumulator.result(*static_cast<R*>(results[I])...);
}

template <class... R>
constexpr std::array<ScalarType, Reduction::kMaxOutputs> types(TypeList<R...>) {
  return {scalar_type_of<R>...};
}
template <class... R>
constexpr size_t count(TypeList<R...>) {
  return sizeof...(R);
}

}  // namespace reduction_internal

template <class Accumulator>
void reduce(
    KernelContext& context, const Accumulator& initial, const ReductionRules& rules,
    const Tensor& self, uint32_t mask, bool keepdim,
    const std::array<Tensor*, reduction_internal::count(typename Accumulator::Results{})>& outs) {
  using In = typename Accumulator::In;
  using Results = typename Accumulator::Results;
  static_assert(std::is_trivially_copyable_v<Accumulator>);
  static_assert(sizeof(Accumulator) <= Reduction::kMaxState && alignof(Accumulator) <= 64);
  const Reduction reduction{&initial,
                            sizeof(Accumulator),
                            [](void* state, const void* values, int64_t count) {
                              static_cast<Accumulator*>(state)->add(std::span<const In>(
                                  static_cast<const In*>(values), static_cast<size_t>(count)));
                            },
                            [](const void* state, void* const* results) {
                              reduction_internal::result(
                                  *static_cast<const Accumulator*>(state), results, Results{},
                                  std::make_index_sequence<reduction_internal::count(Results{})>());
                            },
                            scalar_type_of<In>,
                            reduction_internal::types(Results{}),
                            rules};
  run_reduction(context, reduction, self, mask, keepdim, outs);
}

}  // namespace vitrine
