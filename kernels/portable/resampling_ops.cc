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
  const auto resampling = read_nearest_resampling(context, input, output_size, scale_factors, out);
  if (!resampling) return;
  const auto mover = ElementMover::make(context, input.dtype(), out.dtype());
  if (!mover) return;
  Layout from(input);
  Layout to(out);
  const float row_scale = resampling->scale<float>(0, false);
  const float column_scale = resampling->scale<float>(1, false);
  const Layout from_images = from;
  const Layout to_images = to;
  for (Layout* layout : {&from, &to}) {  // leaves one pixel of all images and channels
    layout->remove(3);
    layout->remove(2);
  }
  const BoxLoop<2> pixel(to.size_span(), {to.strides.data(), from.strides.data()});
  for (int64_t y = 0; y < to_images.sizes[2]; ++y) {
    const int64_t row = nearest_index(y, row_scale, from_images.sizes[2]);
    for (int64_t x = 0; x < to_images.sizes[3]; ++x) {
      const int64_t column = nearest_index(x, column_scale, from_images.sizes[3]);
      pixel.run({y * to_images.strides[2] + x * to_images.strides[3],
                 row * from_images.strides[2] + column * from_images.strides[3]},
                [&](const auto& offsets, int64_t count) {
                  mover->move(input.raw_data(), offsets[1], pixel.row_stride(1),
                              out.mutable_raw_data(), offsets[0], pixel.row_stride(0), count);
                });
    }
  }
}

template <class T>
using Weight = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Computes out[n, c, y, x] = blend(row_of(y), column_of(x), at), where at(h, w) returns self[n, c,
// h, w]. Results for integer dtypes are rounded.
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
          C value = blend(row, column, [&](int64_t h, int64_t w) {
            return static_cast<C>(plane[h * from.strides[2] + w * from.strides[3]]);
          });
          T& target = out.unchecked_mutable_data<T>()[n * to.strides[0] + c * to.strides[1] +
                                                      y * to.strides[2] + x * to.strides[3]];
          if constexpr (std::is_same_v<T, uint8_t>) value = std::clamp(value, C(0), C(255));
          target = convert<T>(std::is_integral_v<T> ? std::nearbyint(value) : value);
        }
      }
    }
  }
}

struct LinearTaps {
  int64_t first;
  int64_t count;
  double second;  // weight of the second element

  explicit LinearTaps(const LinearSample<double>& sample)
      : first(sample.first), count(sample.second - sample.first + 1), second(sample.weight) {}
  double weight(int64_t i) const { return count == 1 ? 1 : i == 0 ? 1 - second : second; }
};

// Averages uint8 elements with fixed-point weights, like PyTorch. Each weight is multiplied by
// 2^bits and rounded to an integer. `bits` is the largest number, up to 22, for which all these
// integers fit into int16.
template <class Taps>
struct FixedPoint {
  Taps taps;
  int bits;

  template <class Read>
  uint8_t average(const Read& read) const {
    int64_t sum = int64_t{1} << (bits - 1);
    for (int64_t i = 0; i < taps.count; ++i) {
      sum += std::llround(taps.weight(i) * (1 << bits)) * read(taps.first + i);
    }
    return static_cast<uint8_t>(std::clamp<int64_t>(sum >> bits, 0, 255));
  }
};

template <class Taps>
FixedPoint(Taps taps, int bits) -> FixedPoint<Taps>;

template <class TapsOf>
auto fixed_point(const TapsOf& taps_of, int64_t outputs) {
  double largest = 0;
  for (int64_t at = 0; at < outputs; ++at) {
    const auto taps = taps_of(at);
    for (int64_t i = 0; i < taps.count; ++i) largest = std::max(largest, taps.weight(i));
  }
  int bits = 0;
  while (bits < 22 && largest * (2 << bits) + 0.5 < 0x1p15) ++bits;
  return [taps_of, bits](int64_t at) { return FixedPoint{taps_of(at), bits}; };
}

// Resizes the width, rounds to uint8, and then resizes the height. `taps_of(dim)` returns a
// function from an output index to input elements and weights.
template <class TapsOf>
void upsample_bytes(const Tensor& self, const Resampling& resampling, Tensor& out,
                    const TapsOf& taps_of) {
  upsample<uint8_t>(
      self, out, fixed_point(taps_of(0), resampling.output[0]),
      fixed_point(taps_of(1), resampling.output[1]),
      [](const auto& rows, const auto& columns, const auto& at) -> float {
        return rows.average([&](int64_t h) {
          return columns.average([&](int64_t w) { return static_cast<int64_t>(at(h, w)); });
        });
      });
}

template <class T>
void upsample_bilinear(const Tensor& self, const Resampling& resampling, bool align_corners,
                       Tensor& out) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    upsample_bytes(self, resampling, out, [&](size_t dim) {
      return [sampler = LinearSampler<double>(resampling, dim, align_corners)](int64_t at) {
        return LinearTaps(sampler(at));
      };
    });
  } else {
    using C = Weight<T>;
    upsample<T>(self, out, LinearSampler<C>(resampling, 0, align_corners),
                LinearSampler<C>(resampling, 1, align_corners),
                [](const auto& row, const auto& column, const auto& at) {
                  const auto across = [&](int64_t h) {
                    return (C(1) - column.weight) * at(h, column.first) +
                           column.weight * at(h, column.second);
                  };
                  return (C(1) - row.weight) * across(row.first) + row.weight * across(row.second);
                });
  }
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

// A filter of antialiased resizing defines half of its width, and its value at a distance from the
// center.
template <class C>
struct Triangle {
  static constexpr C kHalfWidth = 1;
  static C at(C distance) { return distance < C(1) ? C(1) - distance : C(0); }
};
// Keys' cubic convolution with a = -0.5, as in Pillow.
template <class C>
struct Cubic {
  static constexpr C kHalfWidth = 2;
  static C at(C x) {
    constexpr C kA(-0.5);
    if (x < C(1)) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
    return x < C(2) ? ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA : C(0);
  }
};

// The input elements of one output element, and their weights. If the scale (input elements per
// output element) is more than 1, the filter is stretched by the scale.
template <class C, class Filter>
struct Taps {
  int64_t first;
  int64_t count;
  C center;
  C inverse;  // 1 / stretch
  C total = 0;

  Taps(int64_t at, C scale, int64_t size) {
    const C stretch = std::max(scale, C(1));
    const C support = Filter::kHalfWidth * stretch;
    inverse = C(1) / stretch;
    center = scale * (static_cast<C>(at) + C(0.5));
    const C begin = std::max(center - support + C(0.5), C(0));
    const C end = std::min(center + support + C(0.5), static_cast<C>(size));
    first = static_cast<int64_t>(begin);
    count = std::min(static_cast<int64_t>(end), size) - first;  // `end` may be rounded up
    for (int64_t i = 0; i < count; ++i) total += raw(i);
    if (total == C(0)) total = C(1);
  }

  C raw(int64_t i) const {
    return Filter::at(std::fabs((static_cast<C>(first + i) - center + C(0.5)) * inverse));
  }
  C weight(int64_t i) const { return raw(i) / total; }
};

template <class T, template <class> class Filter>
void upsample_antialiased(const Tensor& self, const Resampling& resampling, bool align_corners,
                          Tensor& out) {
  constexpr bool kIsByte = std::is_same_v<T, uint8_t>;
  using C = std::conditional_t<kIsByte, double, Weight<T>>;
  using Weights = Taps<C, Filter<C>>;
  const auto taps_of = [&](size_t dim) {
    return [scale = resampling.scale<C>(dim, align_corners),
            size = resampling.input[dim]](int64_t i) { return Weights(i, scale, size); };
  };
  if constexpr (kIsByte) {
    upsample_bytes(self, resampling, out, taps_of);
  } else {
    upsample<T>(self, out, taps_of(0), taps_of(1),
                [](const Weights& rows, const Weights& columns, const auto& at) {
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
}

template <template <class> class Filter>
void upsample_aa_out(KernelContext& context, const Tensor& self,
                     std::span<const int64_t> output_size, bool align_corners,
                     std::optional<double> scales_h, std::optional<double> scales_w, Tensor& out) {
  auto resampling = read_resampling(context, self, output_size, std::nullopt, out);
  if (!resampling) return;
  const std::optional<double> factors[] = {scales_h, scales_w};
  for (size_t i = 0; i < 2; ++i) {
    if (!factors[i] || !(*factors[i] > 0)) continue;
    // Limits the work: with a small factor, each output element averages many input elements.
    if (*factors[i] < 1e-6) {
      return context.fail(ErrorCode::kInvalidArgument, "scale factor %g is less than 1e-6",
                          *factors[i]);
    }
    // A dimension that keeps its size is not resampled, even if its factor is not 1.
    if (resampling->output[i] != resampling->input[i]) resampling->factors[i] = factors[i];
  }
  dispatch<RealHBF16Types>(context, self.dtype(), [&]<class T>() {
    upsample_antialiased<T, Filter>(self, *resampling, align_corners, out);
  });
}

}  // namespace

VITRINE_KERNEL(upsample_nearest2d_vec_out, "aten::upsample_nearest2d.vec_out",
               upsample_nearest2d_vec_out);
VITRINE_KERNEL(_upsample_bilinear2d_aa_out, "aten::_upsample_bilinear2d_aa.out",
               upsample_aa_out<Triangle>);
VITRINE_KERNEL(upsample_bilinear2d_vec_out, "aten::upsample_bilinear2d.vec_out",
               upsample_bilinear2d_vec_out);
VITRINE_KERNEL(_upsample_bicubic2d_aa_out, "aten::_upsample_bicubic2d_aa.out",
               upsample_aa_out<Cubic>);

}  // namespace vitrine::portable
