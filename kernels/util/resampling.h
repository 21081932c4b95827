// The coordinates of upsampling, as PyTorch computes them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Height (0) and width (1) of images before and after, and the given factors, if any.
struct Resampling {
  std::array<int64_t, 2> input;
  std::array<int64_t, 2> output;
  std::array<std::optional<double>, 2> factors;

  // Input elements to an output element. C is the type that coordinates are computed in.
  template <class C>
  C scale(size_t dim, bool align_corners) const {
    if (align_corners) {
      if (output[dim] <= 1) return C(0);
      return static_cast<C>(input[dim] - 1) / static_cast<C>(output[dim] - 1);
    }
    if (factors[dim]) return static_cast<C>(1.0 / *factors[dim]);
    return static_cast<C>(input[dim]) / static_cast<C>(output[dim]);
  }
};

// For the vec overloads: exactly one of a size and factors is there, of two numbers each. `self` is
// [N, C, H, W] with elements; resizes `out`, of self's dtype.
[[nodiscard]] std::optional<Resampling> read_resampling(
    KernelContext& context, const Tensor& self, std::optional<std::span<const int64_t>> output_size,
    std::optional<std::span<const double>> scale_factors, Tensor& out);

// The two input elements around an output element, and the weight of the second.
template <class C>
struct LinearPlace {
  int64_t first;
  int64_t second;
  C weight;
};
// Those of one dimension.
template <class C>
class LinearPlaces {
 public:
  LinearPlaces(const Resampling& resampling, size_t dim, bool align_corners)
      : size_(resampling.input[dim]),
        stays_(size_ == resampling.output[dim]),
        align_corners_(align_corners),
        scale_(resampling.scale<C>(dim, align_corners)) {}

  LinearPlace<C> operator()(int64_t at) const {
    if (stays_) return {at, at, C(0)};  // copies, whatever the factor
    const C exact = align_corners_
                        ? scale_ * static_cast<C>(at)
                        : std::max(scale_ * (static_cast<C>(at) + C(0.5)) - C(0.5), C(0));
    const C last = static_cast<C>(size_ - 1);
    const int64_t first = exact >= last ? size_ - 1 : static_cast<int64_t>(exact);
    const C weight = std::clamp(exact - static_cast<C>(first), C(0), C(1));
    return {first, std::min(first + 1, size_ - 1), weight};
  }

 private:
  int64_t size_;
  bool stays_;
  bool align_corners_;
  C scale_;
};

// The input element that an output element takes.
inline int64_t nearest_place(int64_t at, float scale, int64_t size) {
  const float exact = std::floor(static_cast<float>(at) * scale);
  return exact >= static_cast<float>(size - 1) ? size - 1 : static_cast<int64_t>(exact);
}

}  // namespace vitrine
