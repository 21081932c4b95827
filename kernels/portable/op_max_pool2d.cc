// Maxima over windows with the places where they are.
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/util/checks.h"
#include "kernels/util/pooling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// out = the largest element of each window, indices = its row-major number in the H x W plane. The
// first of equals wins; NaN wins over all. Resizes both outputs, of which `indices` is Long.
template <class Window>
void max_pool(KernelContext& context, const Tensor& self, const Window& window, Tensor& out,
              Tensor& indices) {
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !check_dtype(context, indices, ScalarType::kLong, "indices") ||
      !resize_images(context, self, window.output, out) ||
      !resize_images(context, self, window.output, indices) ||
      !check_data(context, {&self, &out, &indices})) {
    return;
  }
  const Layout input = image_layout(self);
  const Layout output = image_layout(out);
  const Layout index_layout = image_layout(indices);
  dispatch<RealHBF16Types>(context, self.dtype(), [&]<class T>() {
    using C = Compute<T>;
    const T* from = self.unchecked_data<T>();
    T* to = out.unchecked_mutable_data<T>();
    int64_t* places = indices.unchecked_mutable_data<int64_t>();
    // The indices may have another dim order than the values.
    int64_t number = 0;
    each_window(window, input, output,
                [&](int64_t plane, const PoolRange& rows, const PoolRange& columns, int64_t at) {
                  int64_t place = rows.begin * window.input[1] + columns.begin;
                  C best = std::numeric_limits<C>::lowest();
                  if constexpr (std::is_floating_point_v<C>) {
                    best = -std::numeric_limits<C>::infinity();
                  }
                  for (int64_t y = rows.begin; y < rows.end; y += rows.step) {
                    for (int64_t x = columns.begin; x < columns.end; x += columns.step) {
                      const C value(from[plane + y * input.strides[2] + x * input.strides[3]]);
                      if (value > best || value != value) {
                        best = value;
                        place = y * window.input[1] + x;
                      }
                    }
                  }
                  to[at] = T(best);
                  places[index_layout.offset_of(number++)] = place;
                });
  });
}

void adaptive_max_pool2d_out(KernelContext& context, const Tensor& self,
                             std::span<const int64_t> output_size, Tensor& out, Tensor& indices) {
  const auto window = read_adaptive_window(context, self, output_size);
  if (window) max_pool(context, self, *window, out, indices);
}

void max_pool2d_with_indices_out(KernelContext& context, const Tensor& self,
                                 std::span<const int64_t> kernel_size,
                                 std::span<const int64_t> stride, std::span<const int64_t> padding,
                                 std::span<const int64_t> dilation, bool ceil_mode, Tensor& out,
                                 Tensor& indices) {
  const auto window =
      read_pool_window(context, self, kernel_size, stride, padding, dilation, ceil_mode);
  if (window) max_pool(context, self, *window, out, indices);
}

}  // namespace

VITRINE_KERNEL(adaptive_max_pool2d_out, "aten::adaptive_max_pool2d.out", adaptive_max_pool2d_out);
VITRINE_KERNEL(max_pool2d_with_indices_out, "aten::max_pool2d_with_indices.out",
               max_pool2d_with_indices_out);

}  // namespace vitrine::portable
