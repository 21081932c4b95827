// Coordinates of upsampling as in PyTorch.
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

// Sizes before and after resampling, and the given scale factors. Index 0 is height, index 1 is
// width.
struct Resampling {
  std::array<int64_t, 2> input;
  std::array<int64_t, 2> output;
  std::array<std::optional<double>, 2> factors;

  // Input elements per output element. C is the type of coordinates.
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

// Reads the arguments of the vec overloads and resizes `out`. Either output_size or scale_factors
// must be set, with two numbers. `self` must be [N, C, H, W] with images that are not empty. `out`
// must have the dtype of `self`. If N or C is 0, returns nullopt without failing the context.
[[nodiscard]] std::optional<Resampling> read_resampling(
    KernelContext& context, const Tensor& self, std::optional<std::span<const int64_t>> output_size,
    std::optional<std::span<const double>> scale_factors, Tensor& out);

// read_resampling() without the scale factors that PyTorch's nearest-neighbor kernels ignore.
[[nodiscard]] std::optional<Resampling> read_nearest_resampling(
    KernelContext& context, const Tensor& self, std::optional<std::span<const int64_t>> output_size,
    std::optional<std::span<const double>> scale_factors, Tensor& out);

// The two input elements of a linear interpolation, and the weight of the second element.
template <class C>
struct LinearSample {
  int64_t first;
  int64_t second;
  C weight;
};
template <class C>
class LinearSampler {
 public:
  LinearSampler(const Resampling& resampling, size_t dim, bool align_corners)
      : size_(resampling.input[dim]),
        same_size_(size_ == resampling.output[dim]),
        align_corners_(align_corners),
        scale_(resampling.scale<C>(dim, align_corners)) {}

  LinearSample<C> operator()(int64_t at) const {
    if (same_size_) return {at, at, C(0)};  // copies for any scale factor
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
  bool same_size_;
  bool align_corners_;
  C scale_;
};

// PyTorch's mode "nearest", which rounds down.
inline int64_t nearest_index(int64_t at, float scale, int64_t size) {
  const float exact = std::floor(static_cast<float>(at) * scale);
  return exact >= static_cast<float>(size - 1) ? size - 1 : static_cast<int64_t>(exact);
}

}  // namespace vitrine
