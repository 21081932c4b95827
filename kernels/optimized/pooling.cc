// Computes pooling of row-major float images, line by line.
#include <algorithm>
#include <array>
#include <limits>

#include "kernels/optimized/float_images.h"
#include "kernels/optimized/simd/pooling.h"
#include "kernels/optimized/take_over.h"
#include "kernels/util/parallel.h"
#include "kernels/util/pooling.h"

namespace vitrine::optimized {

namespace {

// Divides the lines of a result into runs of consecutive windows. Windows inside the image form one
// run. Each window that extends past an edge of the image is a separate run.
class LineRuns {
 public:
  explicit LineRuns(const PoolWindow& window) : window_(window) {
    const int64_t stride = window.stride[1];
    const int64_t padding = window.padding[1];
    const int64_t room =
        window.input[1] + padding - (window.kernel[1] - 1) * window.dilation[1] - 1;
    begin_ = (padding + stride - 1) / stride;
    end_ = room < 0 ? 0 : std::min(window.output[1], room / stride + 1);
  }

  // True if any window of a line extends past an edge of the image.
  bool are_cut() const { return begin_ > 0 || end_ < window_.output[1]; }

  // Calls run(windows, index, x, count) for each run [x, x + count) of windows in line `y` of the
  // result. `index` is the position in the plane of the first element of window x.
  template <class Run>
  void for_each(const float* plane, int64_t y, const Run& run) const {
    const PoolRange rows = window_.range(0, y);
    for (int64_t x = 0; x < window_.output[1];) {
      const PoolRange taps = window_.range(1, x);
      const int64_t count = x == begin_ && end_ > begin_ ? end_ - begin_ : 1;
      const int64_t index = rows.begin * window_.input[1] + taps.begin;
      run(simd::Windows{plane + index, window_.stride[1], rows.count(),
                        rows.step * window_.input[1], taps.count(), taps.step},
          index, x, count);
      x += count;
    }
  }

 private:
  const PoolWindow& window_;
  int64_t begin_;  // the windows inside the image
  int64_t end_;
};

// Max pooling of small planes. Pads a plane with minus infinity, so that no window extends past an
// edge.
class PaddedMaxPool {
 public:
  explicit PaddedMaxPool(const PoolWindow& window) : window_(window) {
    for (size_t i = 0; i < 2; ++i) {
      sizes_[i] = (window.output[i] - 1) * window.stride[i] +
                  (window.kernel[i] - 1) * window.dilation[i] + 1;
      copied_[i] = std::clamp<int64_t>(sizes_[i] - window.padding[i], 0, window.input[i]);
    }
    if (!fits()) return;
    int32_t* index = plane_indices_.data();
    for (int64_t y = 0; y < sizes_[0]; ++y) {
      const int64_t line = (y - window.padding[0]) * window.input[1] - window.padding[1];
      for (int64_t x = 0; x < sizes_[1]; ++x) *index++ = static_cast<int32_t>(line + x);
    }
  }

  bool fits() const {
    return sizes_[0] <= kMaxElements && sizes_[1] <= kMaxElements &&
           sizes_[0] * sizes_[1] <= kMaxElements;
  }

  // For each window, finds the largest element in each row of taps, and then the largest of these
  // elements.
  void run(const float* plane, float* largest, int64_t* indices) const {
    float padded[kMaxElements + simd::kPoolingSlack];
    float parts[kMaxElements + simd::kPoolingSlack];
    int32_t part_indices[kMaxElements + simd::kPoolingSlack];
    const int64_t elements = sizes_[0] * sizes_[1];
    std::fill_n(padded, elements + simd::kPoolingSlack, kNothing);
    for (int64_t y = 0; y < copied_[0]; ++y) {
      std::copy_n(plane + y * window_.input[1], copied_[1],
                  padded + (y + window_.padding[0]) * sizes_[1] + window_.padding[1]);
    }
    const int64_t count = elements - (window_.kernel[1] - 1) * window_.dilation[1];
    simd::largest_of_neighbors({padded, nullptr, window_.dilation[1], window_.kernel[1]}, count,
                               parts, part_indices);
    std::fill_n(parts + count, elements - count + simd::kPoolingSlack, kNothing);
    std::fill_n(part_indices + count, elements - count + simd::kPoolingSlack, 0);
    const int64_t width = window_.output[1];
    for (int64_t y = 0; y < window_.output[0]; ++y, largest += width, indices += width) {
      float line[kMaxElements + simd::kPoolingSlack];
      int32_t line_indices[kMaxElements + simd::kPoolingSlack];
      const int64_t first = y * window_.stride[0] * sizes_[1];
      simd::largest_of_neighbors(
          {parts + first, part_indices + first, window_.dilation[0] * sizes_[1], window_.kernel[0]},
          (width - 1) * window_.stride[1] + 1, line, line_indices);
      for (int64_t x = 0; x < width; ++x) {
        const int64_t at = x * window_.stride[1];
        largest[x] = line[at];
        indices[x] = line[at] == kNothing
                         ? window_.range(0, y).begin * window_.input[1] + window_.range(1, x).begin
                         : plane_indices_[static_cast<size_t>(line_indices[at])];
      }
    }
  }

 private:
  static constexpr int64_t kMaxElements = 2048;
  static constexpr float kNothing = -std::numeric_limits<float>::infinity();

  const PoolWindow& window_;
  std::array<int64_t, 2> sizes_{};   // of the padded plane
  std::array<int64_t, 2> copied_{};  // sizes of the part of the plane that windows read
  std::array<int32_t, kMaxElements> plane_indices_;  // by index in the padded plane
};

bool max_pool2d_with_indices_out(KernelContext& context, const Tensor& self,
                                 std::span<const int64_t> kernel_size,
                                 std::span<const int64_t> stride, std::span<const int64_t> padding,
                                 std::span<const int64_t> dilation, bool ceil_mode, Tensor& out,
                                 Tensor& indices) {
  if (!are_row_major_float(self, out) || !indices.is_contiguous() ||
      indices.dtype() != ScalarType::kLong) {
    return false;
  }
  const auto read =
      read_pool_window(context, self, kernel_size, stride, padding, dilation, ceil_mode);
  if (!read || !resize_images(context, self, read->output, out) ||
      !resize_images(context, self, read->output, indices)) {
    return true;  // the context has failed
  }
  const PoolWindow& window = *read;
  const int64_t width = window.output[1];
  const int64_t lines = plane_count(self) * window.output[0];
  if (window.input[0] * window.input[1] > INT32_MAX) return false;
  const LineRuns runs(window);
  const int64_t work = work_of({lines, width, window.kernel[0], window.kernel[1]});
  if (const PaddedMaxPool padded(window); runs.are_cut() && padded.fits()) {
    parallel(context, plane_count(self), work, [&](int64_t plane, int64_t) {
      const int64_t first = plane * window.output[0] * width;
      padded.run(self.unchecked_data<float>() + plane * window.input[0] * window.input[1],
                 out.unchecked_mutable_data<float>() + first,
                 indices.unchecked_mutable_data<int64_t>() + first);
    });
    return true;
  }
  parallel(context, lines, work, [&](int64_t line, int64_t) {
    const float* const plane =
        self.unchecked_data<float>() + line / window.output[0] * window.input[0] * window.input[1];
    float* const best = out.unchecked_mutable_data<float>() + line * width;
    int64_t* const index_line = indices.unchecked_mutable_data<int64_t>() + line * width;
    runs.for_each(
        plane, line % window.output[0],
        [&](const simd::Windows& windows, int64_t index, int64_t x, int64_t count) {
          if (windows.rows == 0 || windows.taps == 0) {  // `index` may be outside the plane
            for (int64_t i = 0; i < count; ++i) {
              best[x + i] = -std::numeric_limits<float>::infinity();
              index_line[x + i] = index + i * windows.stride;
            }
            return;
          }
          simd::largest_of_windows(windows, static_cast<int32_t>(index), count, best + x,
                                   index_line + x);
        });
  });
  return true;
}

bool avg_pool2d_out(KernelContext& context, const Tensor& self,
                    std::span<const int64_t> kernel_size, std::span<const int64_t> stride,
                    std::span<const int64_t> padding, bool ceil_mode, bool count_include_pad,
                    std::optional<int64_t> divisor_override, Tensor& out) {
  if (!are_row_major_float(self, out) || (divisor_override && *divisor_override == 0)) {
    return false;
  }
  const int64_t kDense[] = {1};
  const auto read =
      read_pool_window(context, self, kernel_size, stride, padding, kDense, ceil_mode);
  if (!read || !resize_images(context, self, read->output, out)) return true;
  const PoolWindow& window = *read;
  const int64_t width = window.output[1];
  const int64_t lines = plane_count(self) * window.output[0];
  auto* const divisors =
      static_cast<float*>(context.allocate_temp({width, int64_t{1}, sizeof(float)}));
  if (divisors == nullptr) return true;
  const auto size = [&](const PoolRange& range) {
    const int64_t count = count_include_pad ? range.padded : range.count();
    // The sum of an empty window is zero, so the divisor may be any number but 0.
    return range.end <= range.begin ? 1.0F : static_cast<float>(count);
  };
  for (int64_t x = 0; x < width; ++x) divisors[x] = size(window.range(1, x));
  const LineRuns runs(window);
  const int64_t work = work_of({lines, width, window.kernel[0], window.kernel[1]});
  parallel(context, lines, work, [&](int64_t line, int64_t) {
    const float* const plane =
        self.unchecked_data<float>() + line / window.output[0] * window.input[0] * window.input[1];
    const int64_t y = line % window.output[0];
    float* const sums = out.unchecked_mutable_data<float>() + line * width;
    runs.for_each(plane, y, [&](const simd::Windows& windows, int64_t, int64_t x, int64_t count) {
      simd::sums_of_windows(windows, count, sums + x);
    });
    const float height = size(window.range(0, y));
    if (divisor_override) {
      const auto divisor = static_cast<float>(*divisor_override);
      for (int64_t x = 0; x < width; ++x) sums[x] /= divisor;
    } else {
      for (int64_t x = 0; x < width; ++x) sums[x] /= height * divisors[x];
    }
  });
  return true;
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(avg_pool2d_out, "aten::avg_pool2d.out", avg_pool2d_out, portable)
VITRINE_OPTIMIZED_KERNEL(max_pool2d_with_indices_out, "aten::max_pool2d_with_indices.out",
                         max_pool2d_with_indices_out, portable)
