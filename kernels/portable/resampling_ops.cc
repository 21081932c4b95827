// Images sampled at other places.
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

void upsample_nearest2d_vec_out(KernelContext& context, const Tensor& input,
                                std::optional<std::span<const int64_t>> output_size,
                                std::optional<std::span<const double>> scale_factors, Tensor& out) {
  const auto resampling = read_resampling(context, input, output_size, scale_factors, out);
  if (!resampling) return;
  const auto mover = ElementMover::make(context, input.dtype(), out.dtype());
  if (!mover) return;
  Layout from(input);
  Layout to(out);
  const float row_scale = resampling->scale<float>(0, false);
  const float column_scale = resampling->scale<float>(1, false);
  const Layout whole_from = from;
  const Layout whole_to = to;
  for (Layout* layout : {&from, &to}) {  // one pixel: all images and channels
    layout->remove(3);
    layout->remove(2);
  }
  const BoxLoop<2> pixel(to.size_span(), {to.strides.data(), from.strides.data()});
  for (int64_t y = 0; y < whole_to.sizes[2]; ++y) {
    const int64_t row = nearest_place(y, row_scale, whole_from.sizes[2]);
    for (int64_t x = 0; x < whole_to.sizes[3]; ++x) {
      const int64_t column = nearest_place(x, column_scale, whole_from.sizes[3]);
      pixel.run({y * whole_to.strides[2] + x * whole_to.strides[3],
                 row * whole_from.strides[2] + column * whole_from.strides[3]},
                [&](const auto& offsets, int64_t count) {
                  mover->move(input.raw_data(), offsets[1], pixel.row_stride(1),
                              out.mutable_raw_data(), offsets[0], pixel.row_stride(0), count);
                });
    }
  }
}

// Images resized with linear weights, with and without antialiasing.
template <class T>
using Weight = std::conditional_t<std::is_same_v<T, double>, double, float>;

// row_of and column_of give the places in self of an index in out; blend(row, column, at) gives an
// element of these places, where at(h, w) is one of self.
template <class T, class RowOf, class ColumnOf, class Blend>
void upsample(const Tensor& self, Tensor& out, RowOf row_of, ColumnOf column_of, Blend blend) {
  using C = Weight<T>;
  const Layout from(self);
  const Layout to(out);
  for (int64_t y = 0; y < to.sizes[2]; ++y) {
    const auto row = row_of(y);
    for (int64_t x = 0; x < to.sizes[3]; ++x) {
      const auto column = column_of(x);
      for (int64_t n = 0; n < to.sizes[0]; ++n) {
        for (int64_t c = 0; c < to.sizes[1]; ++c) {
          const T* plane = self.unchecked_data<T>() + n * from.strides[0] + c * from.strides[1];
          const C value = blend(row, column, [&](int64_t h, int64_t w) {
            return static_cast<C>(plane[h * from.strides[2] + w * from.strides[3]]);
          });
          T& target = out.unchecked_mutable_data<T>()[n * to.strides[0] + c * to.strides[1] +
                                                      y * to.strides[2] + x * to.strides[3]];
          target = convert<T>(std::is_integral_v<T> ? std::nearbyint(value) : value);
        }
      }
    }
  }
}

template <class T>
void upsample_bilinear(const Tensor& self, const Resampling& resampling, bool align_corners,
                       Tensor& out) {
  using C = Weight<T>;
  upsample<T>(self, out, LinearPlaces<C>(resampling, 0, align_corners),
              LinearPlaces<C>(resampling, 1, align_corners),
              [](const auto& row, const auto& column, const auto& at) {
                const auto across = [&](int64_t h) {
                  return (C(1) - column.weight) * at(h, column.first) +
                         column.weight * at(h, column.second);
                };
                return (C(1) - row.weight) * across(row.first) + row.weight * across(row.second);
              });
}

void upsample_bilinear2d_vec_out(KernelContext& context, const Tensor& input,
                                 std::optional<std::span<const int64_t>> output_size,
                                 bool align_corners,
                                 std::optional<std::span<const double>> scale_factors,
                                 Tensor& out) {
  const auto resampling = read_resampling(context, input, output_size, scale_factors, out);
  if (!resampling) return;
  dispatch<RealHBF16Types>(context, input.dtype(), [&]<class T>() {
    upsample_bilinear<T>(input, *resampling, align_corners, out);
  });
}

// The input elements that one output element averages, and their weights: a triangle as wide as the
// output's elements are in the input, at least one to each side.
template <class C>
struct Taps {
  int64_t first;
  int64_t count;
  C center;
  C inverse;  // of the triangle's half width
  C total = 0;

  Taps(int64_t at, C scale, int64_t size) {
    const C support = std::max(scale, C(1));
    inverse = C(1) / support;
    center = scale * (static_cast<C>(at) + C(0.5));
    const C begin = std::max(center - support + C(0.5), C(0));
    const C end = std::min(center + support + C(0.5), static_cast<C>(size));
    first = static_cast<int64_t>(begin);
    count = std::min(static_cast<int64_t>(end), size) - first;  // `end` may be rounded up
    for (int64_t i = 0; i < count; ++i) total += raw(i);
    if (total == C(0)) total = C(1);
  }

  C raw(int64_t i) const {
    const C distance = std::fabs((static_cast<C>(first + i) - center + C(0.5)) * inverse);
    return distance < C(1) ? C(1) - distance : C(0);
  }
  C weight(int64_t i) const { return raw(i) / total; }
};

template <class T>
void upsample_antialiased(const Tensor& self, const Resampling& resampling, bool align_corners,
                          Tensor& out) {
  using C = Weight<T>;
  const auto taps_of = [&](size_t dim) {
    return [scale = resampling.scale<C>(dim, align_corners),
            size = resampling.input[dim]](int64_t i) { return Taps<C>(i, scale, size); };
  };
  upsample<T>(self, out, taps_of(0), taps_of(1),
              [](const Taps<C>& rows, const Taps<C>& columns, const auto& at) {
                C sum = 0;
                for (int64_t i = 0; i < rows.count; ++i) {
                  C across = 0;
                  for (int64_t k = 0; k < columns.count; ++k) {
                    across += columns.weight(k) * at(rows.first + i, columns.first + k);
                  }
                  sum += rows.weight(i) * across;
                }
                return sum;
              });
}

void upsample_bilinear2d_aa_out(KernelContext& context, const Tensor& self,
                                std::span<const int64_t> output_size, bool align_corners,
                                std::optional<double> scales_h, std::optional<double> scales_w,
                                Tensor& out) {
  auto resampling = read_resampling(context, self, output_size, std::nullopt, out);
  if (!resampling) return;
  if (scales_h && *scales_h > 0) resampling->factors[0] = scales_h;
  if (scales_w && *scales_w > 0) resampling->factors[1] = scales_w;
  for (size_t i = 0; i < 2; ++i) {
    // The taps would grow without bound.
    if (resampling->factors[i] && !(*resampling->factors[i] >= 1e-6)) {
      return context.fail(ErrorCode::kInvalidArgument, "scale %g is too small",
                          *resampling->factors[i]);
    }
  }
  dispatch<RealHBF16Types>(context, self.dtype(), [&]<class T>() {
    upsample_antialiased<T>(self, *resampling, align_corners, out);
  });
}

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
    if (!(x >= C(0) && x <= static_cast<C>(size - 1))) return -1;
    const auto at = static_cast<int64_t>(x);
    return at < size ? at : -1;  // the last one may have been rounded up
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
    return context.fail(
        ErrorCode::kInvalidArgument, "interpolation %lld with padding %lld is not supported",
        static_cast<long long>(interpolation_mode), static_cast<long long>(padding_mode));
  }
  if (!check_rank(context, input, 4, "input") || !check_rank(context, grid, 4, "grid") ||
      !check_dtype(context, grid, input.dtype(), "grid") ||
      !check_dtype(context, out, input.dtype(), "out")) {
    return;
  }
  if (grid.size(0) != input.size(0) || grid.size(3) != 2 || input.size(2) < 1 ||
      input.size(3) < 1) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "grid is not [%d, H, W, 2], or the images of input are empty",
                        input.size(0));
  }
  const std::array sizes{input.size(0), input.size(1), grid.size(1), grid.size(2)};
  if (!context.resize(out, sizes) || !check_data(context, {&input, &grid, &out})) return;
  if (out.numel() == 0) return;  // however many places there are
  dispatch<FloatHBF16Types>(context, input.dtype(), [&]<class T>() {
    sample<T>(input, grid, static_cast<Interpolation>(interpolation_mode),
              static_cast<Padding>(padding_mode), align_corners, out);
  });
}

}  // namespace

VITRINE_KERNEL(upsample_nearest2d_vec_out, "aten::upsample_nearest2d.vec_out",
               upsample_nearest2d_vec_out);
VITRINE_KERNEL(_upsample_bilinear2d_aa_out, "aten::_upsample_bilinear2d_aa.out",
               upsample_bilinear2d_aa_out);
VITRINE_KERNEL(upsample_bilinear2d_vec_out, "aten::upsample_bilinear2d.vec_out",
               upsample_bilinear2d_vec_out);
VITRINE_KERNEL(grid_sampler_2d_out, "aten::grid_sampler_2d.out", grid_sampler_2d_out);

}  // namespace vitrine::portable
