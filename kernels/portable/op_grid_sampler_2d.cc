#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/util/checks.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

enum class Interpolation : int64_t { kBilinear = 0, kNearest = 1, kBicubic = 2 };
enum class Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

// One dimension of the image that is sampled, and how places in it are found.
template <class C>
struct Axis {
  int64_t size;
  Padding padding;
  bool align_corners;

  // From -1 .. 1 to elements.
  C place(C x) const {
    const C extent = static_cast<C>(size);
    return align_corners ? (x + 1) / 2 * (extent - 1) : ((x + 1) * extent - 1) / 2;
  }

  // Into the image, as the padding says; zeros leave it where it is.
  C padded(C x) const {
    if (padding == Padding::kZeros) return x;
    if (padding == Padding::kReflection) x = reflected(x);
    // The order of comparisons gives NaN a place, too.
    return x > C(0) ? std::min(x, static_cast<C>(size - 1)) : C(0);
  }

  // Index of an element, or -1 outside.
  int64_t index(C x) const {
    return x >= C(0) && x <= static_cast<C>(size - 1) ? static_cast<int64_t>(x) : -1;
  }

 private:
  C reflected(C x) const {
    const C low = align_corners ? C(0) : C(-0.5);
    const C span = align_corners ? static_cast<C>(size - 1) : static_cast<C>(size);
    if (span <= C(0)) return C(0);
    x = std::fabs(x - low);
    const C rest = std::fmod(x, span);
    const bool odd = std::fmod(std::floor(x / span), C(2)) != C(0);
    return (odd ? span - rest : rest) + low;
  }
};

// The elements of one dimension that a sample weighs, at most four.
template <class C>
struct Weights {
  std::array<int64_t, 4> index;  // -1: nothing there
  std::array<C, 4> weight;
  size_t count;
};

template <class C>
Weights<C> weigh(const Axis<C>& axis, C x, Interpolation interpolation) {
  const C place = axis.place(x);
  if (interpolation == Interpolation::kNearest) {
    return {{axis.index(std::nearbyint(axis.padded(place)))}, {C(1)}, 1};
  }
  if (interpolation == Interpolation::kBilinear) {
    const C exact = axis.padded(place);
    const C first = std::floor(exact);
    const C rest = exact - first;
    return {{axis.index(first), axis.index(first + 1)}, {C(1) - rest, rest}, 2};
  }
  // Cubic convolution with a = -3/4; each of its elements is padded separately.
  const C first = std::floor(place);
  const C t = place - first;
  constexpr C kA(-0.75);
  const auto near = [](C d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](C d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  Weights<C> weights{{}, {far(t + 1), near(t), near(1 - t), far(2 - t)}, 4};
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
  const Layout places(grid);
  const Layout to(out);
  const Axis<C> rows{from.sizes[2], padding, align_corners};
  const Axis<C> columns{from.sizes[3], padding, align_corners};
  for (int64_t n = 0; n < to.sizes[0]; ++n) {
    for (int64_t y = 0; y < to.sizes[2]; ++y) {
      for (int64_t x = 0; x < to.sizes[3]; ++x) {
        const T* place = grid.unchecked_data<T>() + n * places.strides[0] + y * places.strides[1] +
                         x * places.strides[2];
        const auto across = weigh<C>(columns, C(place[0]), interpolation);
        const auto down = weigh<C>(rows, C(place[places.strides[3]]), interpolation);
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
    context.fail(ErrorCode::kInvalidArgument,
                 "interpolation %lld with padding %lld is not supported",
                 static_cast<long long>(interpolation_mode), static_cast<long long>(padding_mode));
    return;
  }
  if (!check_rank(context, input, 4, "input") || !check_rank(context, grid, 4, "grid") ||
      !check_dtype(context, grid, input.dtype(), "grid") ||
      !check_dtype(context, out, input.dtype(), "out")) {
    return;
  }
  if (grid.size(0) != input.size(0) || grid.size(3) != 2 || input.size(2) < 1 ||
      input.size(3) < 1) {
    context.fail(ErrorCode::kInvalidArgument,
                 "grid is not [%d, H, W, 2], or the images of input are empty", input.size(0));
    return;
  }
  const std::array sizes{input.size(0), input.size(1), grid.size(1), grid.size(2)};
  if (!context.resize(out, sizes) || !check_data(context, {&input, &grid, &out})) return;
  dispatch<FloatHBF16Types>(context, input.dtype(), [&]<class T>() {
    sample<T>(input, grid, static_cast<Interpolation>(interpolation_mode),
              static_cast<Padding>(padding_mode), align_corners, out);
  });
}

}  // namespace

VITRINE_KERNEL(grid_sampler_2d_out, "aten::grid_sampler_2d.out", grid_sampler_2d_out);

}  // namespace vitrine::portable
