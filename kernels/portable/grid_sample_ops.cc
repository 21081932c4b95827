// Operators that sample images and volumes at given coordinates.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <type_traits>

#include "kernels/util/checks.h"
#include "kernels/util/convert.h"
#include "kernels/util/dtype_dispatch.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/layout.h"
#include "kernels/util/resampling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

enum class Interpolation : int64_t { kBilinear = 0, kNearest = 1, kBicubic = 2 };
enum class Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

// One dimension of the sampled image.
template <class C>
struct Axis {
  int64_t size;
  Padding padding;
  bool align_corners;

  // Converts a coordinate in [-1, 1] to a position in elements.
  C position(C x) const {
    const C extent = static_cast<C>(size);
    return align_corners ? (x + 1) / 2 * (extent - 1) : ((x + 1) * extent - 1) / 2;
  }

  // Moves a position outside the image into the image. Padding::kZeros leaves the position
  // unchanged.
  C padded(C x) const {
    if (padding == Padding::kZeros) return x;
    if (padding == Padding::kReflection) x = reflected(x);
    // NaN becomes position 0, because NaN > 0 is false.
    return x > C(0) ? std::min(x, static_cast<C>(size - 1)) : C(0);
  }

  // The index of the element at x, or -1 if x is outside the image.
  int64_t index(C x) const {
    if (!(x >= C(0) && x <= static_cast<C>(size - 1))) return -1;
    const auto at = static_cast<int64_t>(x);
    return at < size ? at : -1;  // static_cast<C>(size - 1) may have been rounded up
  }

 private:
  C reflected(C x) const {
    const C low = align_corners ? C(0) : C(-0.5);
    const C span = align_corners ? static_cast<C>(size - 1) : static_cast<C>(size);
    if (span <= C(0)) return C(0);
    x = std::fabs(x - low);
    const C remainder = std::fmod(x, span);
    const bool odd = std::fmod(std::floor(x / span), C(2)) != C(0);
    return (odd ? span - remainder : remainder) + low;
  }
};

// The elements of one dimension that contribute to a sample, and their weights.
template <class C>
struct SampleWeights {
  std::array<int64_t, 4> index;  // -1: outside the image
  std::array<C, 4> weight;
  size_t count;
};

template <class C>
SampleWeights<C> sample_weights(const Axis<C>& axis, C x, Interpolation interpolation) {
  const C position = axis.position(x);
  if (interpolation == Interpolation::kNearest) {
    return {{axis.index(std::nearbyint(axis.padded(position)))}, {C(1)}, 1};
  }
  if (interpolation == Interpolation::kBilinear) {
    const C exact = axis.padded(position);
    const C first = std::floor(exact);
    const C fraction = exact - first;
    return {{axis.index(first), axis.index(first + 1)}, {C(1) - fraction, fraction}, 2};
  }
  // Cubic convolution with a = -3/4. Padding is applied to each of the four elements separately.
  const C first = std::floor(position);
  const C t = position - first;
  constexpr C kA(-0.75);
  const auto near = [](C d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](C d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  SampleWeights<C> weights{{}, {far(t + 1), near(t), near(1 - t), far(2 - t)}, 4};
  for (size_t i = 0; i < 4; ++i) {
    weights.index[i] = axis.index(axis.padded(first - 1 + static_cast<C>(i)));
  }
  return weights;
}

template <class T>
void sample(const Tensor& input, const Tensor& grid, Interpolation interpolation, Padding padding,
            bool align_corners, Tensor& out) {
  using C = Compute<T>;
  const Layout from(input);
  const Layout grid_layout(grid);
  const Layout to(out);
  const Axis<C> rows{from.sizes[2], padding, align_corners};
  const Axis<C> columns{from.sizes[3], padding, align_corners};
  for (int64_t n = 0; n < to.sizes[0]; ++n) {
    for (int64_t y = 0; y < to.sizes[2]; ++y) {
      for (int64_t x = 0; x < to.sizes[3]; ++x) {
        const T* point = grid.unchecked_data<T>() + n * grid_layout.strides[0] +
                         y * grid_layout.strides[1] + x * grid_layout.strides[2];
        const auto across = sample_weights<C>(columns, C(point[0]), interpolation);
        const auto down = sample_weights<C>(rows, C(point[grid_layout.strides[3]]), interpolation);
        for (int64_t c = 0; c < to.sizes[1]; ++c) {
          const T* plane = input.unchecked_data<T>() + n * from.strides[0] + c * from.strides[1];
          C sum(0);
          for (size_t i = 0; i < down.count; ++i) {
            for (size_t k = 0; k < across.count; ++k) {
              if (down.index[i] < 0 || across.index[k] < 0) continue;
              sum += down.weight[i] * across.weight[k] *
                     C(plane[down.index[i] * from.strides[2] + across.index[k] * from.strides[3]]);
            }
          }
          out.unchecked_mutable_data<T>()[n * to.strides[0] + c * to.strides[1] +
                                          y * to.strides[2] + x * to.strides[3]] = T(sum);
        }
      }
    }
  }
}

void grid_sampler_2d_out(KernelContext& context, const Tensor& input, const Tensor& grid,
                         int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                         Tensor& out) {
  if (interpolation_mode < 0 || interpolation_mode > 2 || padding_mode < 0 || padding_mode > 2) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "interpolation mode %lld with padding mode %lld is not supported",
                        static_cast<long long>(interpolation_mode),
                        static_cast<long long>(padding_mode));
  }
  if (!check_rank(context, input, 4, "input") || !check_rank(context, grid, 4, "grid") ||
      !check_dtype(context, grid, input.dtype(), "grid") ||
      !check_dtype(context, out, input.dtype(), "out")) {
    return;
  }
  if (grid.size(0) != input.size(0) || grid.size(3) != 2 || input.size(2) < 1 ||
      input.size(3) < 1) {
    return context.fail(
        ErrorCode::kInvalidArgument,
        "expected a grid of shape [%d,H,W,2] and an input whose images are not empty",
        input.size(0));
  }
  const std::array sizes{input.size(0), input.size(1), grid.size(1), grid.size(2)};
  if (!context.resize(out, sizes) || !check_data(context, {&input, &grid, &out})) return;
  if (out.numel() == 0) return;  // without channels, the loop over the points does nothing
  dispatch<FloatHBF16Types>(context, input.dtype(), [&]<class T>() {
    sample<T>(input, grid, static_cast<Interpolation>(interpolation_mode),
              static_cast<Padding>(padding_mode), align_corners, out);
  });
}

// Samples volumes [N, C, D, H, W] at the points (x, y, z) of a grid [N, D', H', W', 3].
template <class T>
void sample_volumes(const Tensor& input, const Tensor& grid, Interpolation interpolation,
                    Padding padding, bool align_corners, Tensor& out) {
  using C = Compute<T>;
  const Layout from(input);
  const Layout grid_layout(grid);
  const Layout to(out);
  const int64_t num_points = to.sizes[2] * to.sizes[3] * to.sizes[4];
  for (int64_t n = 0; n < to.sizes[0]; ++n) {
    for (int64_t i = 0; i < num_points; ++i) {
      const int64_t at[] = {i / (to.sizes[3] * to.sizes[4]), i / to.sizes[4] % to.sizes[3],
                            i % to.sizes[4]};
      const T* point = grid.unchecked_data<T>() + n * grid_layout.strides[0];
      T* target = out.unchecked_mutable_data<T>() + n * to.strides[0];
      for (size_t dim = 0; dim < 3; ++dim) {
        point += at[dim] * grid_layout.strides[1 + dim];
        target += at[dim] * to.strides[2 + dim];
      }
      std::array<SampleWeights<C>, 3> weights;  // weights of depth, height and width
      for (size_t dim = 0; dim < 3; ++dim) {
        const Axis<C> axis{from.sizes[2 + dim], padding, align_corners};
        const C coordinate(point[static_cast<int64_t>(2 - dim) * grid_layout.strides[4]]);
        weights[dim] = sample_weights<C>(axis, coordinate, interpolation);
      }
      for (int64_t c = 0; c < to.sizes[1]; ++c) {
        const T* volume = input.unchecked_data<T>() + n * from.strides[0] + c * from.strides[1];
        C sum(0);
        for (size_t corner = 0; corner < 8; ++corner) {
          C weight(1);
          int64_t offset = 0;
          for (size_t dim = 0; dim < 3; ++dim) {
            const size_t k = corner >> (2 - dim) & 1;
            const int64_t index = k < weights[dim].count ? weights[dim].index[k] : -1;
            if (index < 0) {
              offset = -1;
              break;
            }
            weight *= weights[dim].weight[k];
            offset += index * from.strides[2 + dim];
          }
          if (offset >= 0) sum += weight * C(volume[offset]);
        }
        target[c * to.strides[1]] = T(sum);
      }
    }
  }
}

void grid_sampler_3d_out(KernelContext& context, const Tensor& input, const Tensor& grid,
                         int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                         Tensor& out) {
  if (interpolation_mode < 0 || interpolation_mode > 1 || padding_mode < 0 || padding_mode > 2) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "interpolation mode %lld with padding mode %lld is not supported",
                        static_cast<long long>(interpolation_mode),
                        static_cast<long long>(padding_mode));
  }
  if (!check_rank(context, input, 5, "input") || !check_rank(context, grid, 5, "grid") ||
      !check_dtype(context, grid, input.dtype(), "grid") ||
      !check_dtype(context, out, input.dtype(), "out")) {
    return;
  }
  if (grid.size(0) != input.size(0) || grid.size(4) != 3 || input.size(2) < 1 ||
      input.size(3) < 1 || input.size(4) < 1) {
    return context.fail(
        ErrorCode::kInvalidArgument,
        "expected a grid of shape [%d,D,H,W,3] and an input whose volumes are not empty",
        input.size(0));
  }
  const std::array sizes{input.size(0), input.size(1), grid.size(1), grid.size(2), grid.size(3)};
  if (!context.resize(out, sizes) || !check_data(context, {&input, &grid, &out})) return;
  if (out.numel() == 0) return;  // without channels, the loop over the points does nothing
  dispatch<FloatHBF16Types>(context, input.dtype(), [&]<class T>() {
    sample_volumes<T>(input, grid, static_cast<Interpolation>(interpolation_mode),
                      static_cast<Padding>(padding_mode), align_corners, out);
  });
}

}  // namespace

VITRINE_KERNEL(grid_sampler_2d_out, "aten::grid_sampler_2d.out", grid_sampler_2d_out);
VITRINE_KERNEL(grid_sampler_3d_out, "aten::grid_sampler_3d.out", grid_sampler_3d_out);

}  // namespace vitrine::portable
