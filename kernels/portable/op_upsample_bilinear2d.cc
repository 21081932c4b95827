// Images resized with linear weights, with and without antialiasing.
#include <cmath>
#include <span>
#include <type_traits>

#include "kernels/util/convert.h"
#include "kernels/util/dtype_dispatch.h"
#include "kernels/util/layout.h"
#include "kernels/util/resampling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
using Weight = std::conditional_t<std::is_same_v<T, double>, double, float>;

// place_of(index in out, scale, size of self) is called for rows and columns; blend(row, column,
// at) gives an element of these places, where at(h, w) is one of self.
template <class T, class PlaceOf, class Blend>
void upsample(const Tensor& self, const Resampling& resampling, bool align_corners, Tensor& out,
              PlaceOf place_of, Blend blend) {
  using C = Weight<T>;
  const Layout from(self);
  const Layout to(out);
  const C row_scale = resampling.scale<C>(0, align_corners);
  const C column_scale = resampling.scale<C>(1, align_corners);
  for (int64_t y = 0; y < to.sizes[2]; ++y) {
    const auto row = place_of(y, row_scale, from.sizes[2]);
    for (int64_t x = 0; x < to.sizes[3]; ++x) {
      const auto column = place_of(x, column_scale, from.sizes[3]);
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
  upsample<T>(
      self, resampling, align_corners, out,
      [align_corners](int64_t i, C scale, int64_t size) {
        return linear_place(i, scale, align_corners, size);
      },
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
    count = static_cast<int64_t>(end) - first;
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
  upsample<T>(
      self, resampling, align_corners, out,
      [](int64_t i, C scale, int64_t size) { return Taps<C>(i, scale, size); },
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
      context.fail(ErrorCode::kInvalidArgument, "scale %g is too small", *resampling->factors[i]);
      return;
    }
  }
  dispatch<RealHBF16Types>(context, self.dtype(), [&]<class T>() {
    upsample_antialiased<T>(self, *resampling, align_corners, out);
  });
}

}  // namespace

VITRINE_KERNEL(_upsample_bilinear2d_aa_out, "aten::_upsample_bilinear2d_aa.out",
               upsample_bilinear2d_aa_out);
VITRINE_KERNEL(upsample_bilinear2d_vec_out, "aten::upsample_bilinear2d.vec_out",
               upsample_bilinear2d_vec_out);

}  // namespace vitrine::portable
