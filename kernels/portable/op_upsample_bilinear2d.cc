#include <cmath>
#include <type_traits>

#include "kernels/util/convert.h"
#include "kernels/util/dtype_dispatch.h"
#include "kernels/util/layout.h"
#include "kernels/util/resampling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
void upsample_bilinear(const Tensor& self, const Resampling& resampling, bool align_corners,
                       Tensor& out) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const Layout from(self);
  const Layout to(out);
  const C row_scale = resampling.scale<C>(0, align_corners);
  const C column_scale = resampling.scale<C>(1, align_corners);
  for (int64_t y = 0; y < to.sizes[2]; ++y) {
    const auto row = linear_place(y, row_scale, align_corners, from.sizes[2]);
    for (int64_t x = 0; x < to.sizes[3]; ++x) {
      const auto column = linear_place(x, column_scale, align_corners, from.sizes[3]);
      for (int64_t n = 0; n < to.sizes[0]; ++n) {
        for (int64_t c = 0; c < to.sizes[1]; ++c) {
          const T* plane = self.data<T>() + n * from.strides[0] + c * from.strides[1];
          const auto at = [&](int64_t h, int64_t w) {
            return static_cast<C>(plane[h * from.strides[2] + w * from.strides[3]]);
          };
          const auto across = [&](int64_t h) {
            return (C(1) - column.weight) * at(h, column.first) +
                   column.weight * at(h, column.second);
          };
          const C value = (C(1) - row.weight) * across(row.first) + row.weight * across(row.second);
          T& target = out.mutable_data<T>()[n * to.strides[0] + c * to.strides[1] +
                                            y * to.strides[2] + x * to.strides[3]];
          target = convert<T>(std::is_integral_v<T> ? std::nearbyint(value) : value);
        }
      }
    }
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

}  // namespace

VITRINE_KERNEL(upsample_bilinear2d_vec_out, "aten::upsample_bilinear2d.vec_out",
               upsample_bilinear2d_vec_out);

}  // namespace vitrine::portable
