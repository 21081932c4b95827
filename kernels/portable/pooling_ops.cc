#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"
#include "kernels/util/pooling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Writes the largest element of each window, and its row-major index in the H x W plane (Long).
// Ties: the first element wins. NaN wins over all numbers. Resizes both outputs.
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
    int64_t* index_data = indices.unchecked_mutable_data<int64_t>();
    // Row-major index of the output element. `indices` may have another dim order than `out`, so
    // the offset `at` is valid only in `out`.
    int64_t element = 0;
    for_each_window(
        window, input, output,
        [&](int64_t plane, const PoolRange& rows, const PoolRange& columns, int64_t at) {
          int64_t best_index = rows.begin * window.input[1] + columns.begin;
          C best = std::numeric_limits<C>::lowest();
          if constexpr (std::is_floating_point_v<C>) {
            best = -std::numeric_limits<C>::infinity();
          }
          for (int64_t y = rows.begin; y < rows.end; y += rows.step) {
            for (int64_t x = columns.begin; x < columns.end; x += columns.step) {
              const C value(from[plane + y * input.strides[2] + x * input.strides[3]]);
              if (value > best || value != value) {
                best = value;
                best_index = y * window.input[1] + x;
              }
            }
          }
          to[at] = T(best);
          index_data[index_layout.offset_of(element++)] = best_index;
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

// Adds `count` elements of `from` to the elements of a plane with the given row-major indices. The
// plane begins at offset `plane`. All strides are in elements.
template <class T>
void add_gradients(const Tensor& from, int64_t first, int64_t stride, const int64_t* indices,
                   int64_t index_stride, int64_t count, int64_t width, const Layout& layout,
                   int64_t plane, Tensor& to) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = indices[i * index_stride];
    T& sum = to.unchecked_mutable_data<T>()[plane + index / width * layout.strides[2] +
                                            index % width * layout.strides[3]];
    using C = Compute<T>;
    sum = T(C(sum) + C(from.unchecked_data<T>()[first + i * stride]));
  }
}

// Adds each window's gradient at the position of the window's largest element.
void max_pool2d_with_indices_backward(KernelContext& context, const Tensor& grad_output,
                                      const Tensor& self, std::span<const int64_t> kernel_size,
                                      std::span<const int64_t> stride,
                                      std::span<const int64_t> padding,
                                      std::span<const int64_t> dilation, bool ceil_mode,
                                      const Tensor& indices, Tensor& grad_input) {
  const auto window =
      read_pool_window(context, self, kernel_size, stride, padding, dilation, ceil_mode);
  if (!window) return;
  std::array<int32_t, 4> pooled;
  std::ranges::copy(self.sizes(), pooled.begin());
  for (size_t i = 0; i < 2; ++i) {
    pooled[self.rank() - 2 + i] = static_cast<int32_t>(window->output[i]);
  }
  const std::span<const int32_t> sizes(pooled.data(), self.rank());
  if (!check_dtype(context, grad_output, self.dtype(), "grad_output") ||
      !check_dtype(context, grad_input, self.dtype(), "grad_input") ||
      !check_dtype(context, indices, ScalarType::kLong, "indices") ||
      !check_sizes(context, grad_output, sizes, "grad_output") ||
      !check_sizes(context, indices, sizes, "indices") ||
      !context.resize(grad_input, self.sizes()) ||
      !check_data(context, {&grad_output, &indices, &grad_input}) ||
      !check_no_overlap(context, grad_input, {&grad_output, &indices})) {
    return;
  }
  if (grad_input.numel() == 0) return;
  const Layout from = image_layout(grad_output);
  const Layout index_layout = image_layout(indices);
  const Layout to = image_layout(grad_input);
  const std::array<int64_t, 4> plane_strides{to.strides[0], to.strides[1], 0, 0};
  const BoxLoop<3> loop(from.size_span(),
                        {from.strides.data(), index_layout.strides.data(), plane_strides.data()},
                        LoopOrder::kRowMajor);
  decltype(&add_gradients<float>) add = nullptr;
  dispatch<FloatHBF16Types>(context, self.dtype(), [&]<class T>() { add = add_gradients<T>; });
  if (add == nullptr) return;
  std::memset(grad_input.mutable_raw_data(), 0, grad_input.nbytes());
  loop.run({}, [&](const auto& first, int64_t count) {
    if (context.failed()) return;
    const int64_t* const row = indices.unchecked_data<int64_t>() + first[1];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = row[i * loop.row_stride(1)];
      if (index >= 0 && index < window->input[0] * window->input[1]) continue;
      return context.fail(ErrorCode::kInvalidArgument,
                          "index %lld is outside the H x W plane of self",
                          static_cast<long long>(index));
    }
    add(grad_output, first[0], loop.row_stride(0), row, loop.row_stride(1), count, window->input[1],
        to, first[2], grad_input);
  });
}

// Integer results are rounded toward zero.
template <class T>
T average(T sum, int64_t divisor) {
  if constexpr (is_integer_v<T>) {
    return divide_trunc<T>(sum, divisor);
  } else {
    return sum / static_cast<T>(divisor);
  }
}

// The sum of each window, divided by divisor(rows, columns), which must not be 0. Supports
// FLOATHBF16 and Long. Resizes `out`.
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
    for_each_window(
        window, input, output,
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
    return context.fail(ErrorCode::kInvalidArgument, "divisor_override is zero");
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

VITRINE_KERNEL(adaptive_max_pool2d_out, "aten::adaptive_max_pool2d.out", adaptive_max_pool2d_out);
VITRINE_KERNEL(max_pool2d_with_indices_out, "aten::max_pool2d_with_indices.out",
               max_pool2d_with_indices_out);
VITRINE_KERNEL(max_pool2d_with_indices_backward_grad_input,
               "aten::max_pool2d_with_indices_backward.grad_input",
               max_pool2d_with_indices_backward);
VITRINE_KERNEL(_adaptive_avg_pool2d_out, "aten::_adaptive_avg_pool2d.out", adaptive_avg_pool2d_out);
VITRINE_KERNEL(avg_pool2d_out, "aten::avg_pool2d.out", avg_pool2d_out);

}  // namespace vitrine::portable
