// Means over windows.
#include <cstdint>

#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"
#include "kernels/util/pooling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
T average(T sum, int64_t divisor) {
  if constexpr (is_integer_v<T>) {
    return divide_trunc<T>(sum, divisor);
  } else {
    return sum / static_cast<T>(divisor);
  }
}

// out = the sum of each window divided by divisor(rows, columns), which is not zero; integers
// divide towards zero. Takes FLOATHBF16 and Long. Resizes `out`.
template <class Window, class Divisor>
void average_pool(KernelContext& context, const Tensor& self, const Window& window,
                  Divisor&& divisor, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !resize_images(context, self, window.output, out) || !check_data(context, {&self, &out})) {
    return;
  }
  const Layout input = image_layout(self);
  const Layout output = image_layout(out);
  using Types = Join<FloatHBF16Types, TypeList<int64_t>>::type;
  dispatch<Types>(context, self.dtype(), [&]<class T>() {
    using C = Compute<T>;
    const T* from = self.unchecked_data<T>();
    T* to = out.unchecked_mutable_data<T>();
    each_window(window, input, output,
                [&](int64_t plane, const PoolRange& rows, const PoolRange& columns, int64_t at) {
                  C sum(0);
                  for (int64_t y = rows.begin; y < rows.end; y += rows.step) {
                    for (int64_t x = columns.begin; x < columns.end; x += columns.step) {
                      const C value(from[plane + y * input.strides[2] + x * input.strides[3]]);
                      sum = wrapping_add(sum, value);
                    }
                  }
                  const bool empty = rows.end <= rows.begin || columns.end <= columns.begin;
                  to[at] = T(empty ? C(0) : average(sum, divisor(rows, columns)));
                });
  });
}

void adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self,
                             std::span<const int64_t> output_size, Tensor& out) {
  const auto window = read_adaptive_window(context, self, output_size);
  if (!window) return;
  average_pool(
      context, self, *window,
      [](const PoolRange& rows, const PoolRange& columns) {
        return rows.count() * columns.count();
      },
      out);
}

void avg_pool2d_out(KernelContext& context, const Tensor& self,
                    std::span<const int64_t> kernel_size, std::span<const int64_t> stride,
                    std::span<const int64_t> padding, bool ceil_mode, bool count_include_pad,
                    std::optional<int64_t> divisor_override, Tensor& out) {
  const int64_t kDense[] = {1};
  const auto window =
      read_pool_window(context, self, kernel_size, stride, padding, kDense, ceil_mode);
  if (!window) return;
  if (divisor_override && *divisor_override == 0) {
    context.fail(ErrorCode::kInvalidArgument, "divisor_override is zero");
    return;
  }
  average_pool(
      context, self, *window,
      [&](const PoolRange& rows, const PoolRange& columns) {
        if (divisor_override) return *divisor_override;
        return count_include_pad ? rows.padded * columns.padded : rows.count() * columns.count();
      },
      out);
}

}  // namespace

VITRINE_KERNEL(_adaptive_avg_pool2d_out, "aten::_adaptive_avg_pool2d.out", adaptive_avg_pool2d_out);
VITRINE_KERNEL(avg_pool2d_out, "aten::avg_pool2d.out", avg_pool2d_out);

}  // namespace vitrine::portable
