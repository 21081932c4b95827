#include "kernels/util/element_copy.h"
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

}  // namespace

VITRINE_KERNEL(upsample_nearest2d_vec_out, "aten::upsample_nearest2d.vec_out",
               upsample_nearest2d_vec_out);

}  // namespace vitrine::portable
