// Max pooling and average pooling of row-major float images.
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

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// Divides the output lines of a plane into bands. If windows extend past the edges of the plane, a
// band copies its input lines and adds padding.
class Bands {
 public:
  explicit Bands(const PoolWindow& window) : window_(window) {
    bool is_inside = true;
    for (size_t i = 0; i < 2; ++i) {
      reach_[i] = (window.kernel[i] - 1) * window.dilation[i] + 1;
      padded_[i] = (window.output[i] - 1) * window.stride[i] + reach_[i];
      is_inside = is_inside && window.padding[i] == 0 && padded_[i] <= window.input[i];
    }
    const int64_t columns = is_inside ? window.input[1] : padded_[1];
    if (reach_[0] > kMaxElements || columns > kMaxElements || reach_[0] * columns > kMaxElements) {
      return;
    }
    const int64_t rows = std::max(reach_[0], kBandElements / columns);
    lines_ = std::min((rows - reach_[0]) / window.stride[0] + 1, window.output[0]);
    if (!is_inside) copy_rows_ = (lines_ - 1) * window.stride[0] + reach_[0];
  }

  // False if the input lines for one output line have more than kMaxElements elements.
  bool fit() const { return lines_ != 0; }
  int64_t count() const { return (window_.output[0] + lines_ - 1) / lines_; }
  int64_t first_line(int64_t band) const { return band * lines_; }
  // Number of floats in a copy of a band, or 0 if bands need no copies.
  int64_t copy_size() const { return copy_rows_ * padded_[1]; }

  // Returns the windows of a band. If copy_size() is not 0, fills `copy` with lines of the plane
  // and with `padding`, and the windows read `copy`. Otherwise, the windows read the plane.
  simd::Windows windows(const float* plane, int64_t band, float padding, float* copy) const {
    const PoolWindow& w = window_;
    const int64_t first = first_line(band);
    const int64_t lines = std::min(lines_, w.output[0] - first);
    const int64_t top = first * w.stride[0] - w.padding[0];
    const float* from = plane + top * w.input[1];
    int64_t row = w.input[1];
    if (copy_rows_ != 0) {
      from = copy;
      row = padded_[1];
      const int64_t copied = std::clamp<int64_t>(row - w.padding[1], 0, w.input[1]);
      for (int64_t y = top; y < top + (lines - 1) * w.stride[0] + reach_[0]; ++y, copy += row) {
        if (y < 0 || y >= w.input[0]) {
          std::fill_n(copy, row, padding);
          continue;
        }
        std::fill_n(copy, std::min(w.padding[1], row), padding);
        std::copy_n(plane + y * w.input[1], copied, copy + w.padding[1]);
        std::fill(copy + w.padding[1] + copied, copy + row, padding);
      }
    }
    return {from,        w.stride[1],   w.kernel[0], row * w.dilation[0],
            w.kernel[1], w.dilation[1], lines,       row * w.stride[0]};
  }

  // The first index and the index steps of a band's windows. Indices are positions in the plane.
  simd::WindowIndices indices(int64_t band) const {
    const PoolWindow& w = window_;
    const int64_t top = first_line(band) * w.stride[0] - w.padding[0];
    return {static_cast<int32_t>(top * w.input[1] - w.padding[1]), w.dilation[0] * w.input[1],
            w.stride[0] * w.input[1]};
  }

 private:
  static constexpr int64_t kBandElements = 8192;
  static constexpr int64_t kMaxElements = int64_t{1} << 22;

  const PoolWindow& window_;
  std::array<int64_t, 2> reach_{};   // elements from the first to the last tap of a window
  std::array<int64_t, 2> padded_{};  // sizes of the plane that all windows read
  int64_t lines_ = 0;                // lines of the result in a band
  int64_t copy_rows_ = 0;
};

// Calls body(plane, band, copy) for all bands of all planes. `copy` has bands.copy_size() floats.
template <class Body>
void for_each_band(KernelContext& context, const PoolWindow& window, const Bands& bands,
                   int64_t planes, const Body& body) {
  const int64_t work =
      work_of({planes, window.output[0], window.output[1], window.kernel[0], window.kernel[1]});
  float* copies = nullptr;
  if (bands.copy_size() != 0) {
    copies = static_cast<float*>(
        context.allocate_temp({worker_count(context, work), bands.copy_size(), sizeof(float)}));
    if (copies == nullptr) return;
  }
  parallel(context, planes * bands.count(), work, [&](int64_t item, int64_t worker) {
    body(item / bands.count(), item % bands.count(), copies + worker * bands.copy_size());
  });
}

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
  const Bands bands(window);
  // Indices are int32_t. The limit leaves room for the indices of the padding.
  if (!bands.fit() || window.input[0] * window.input[1] > INT32_MAX / 4) return false;
  const int64_t width = window.output[1];
  // The first output coordinate whose window begins after the padding.
  const auto first_inside = [&](size_t dim) {
    return (window.padding[dim] + window.stride[dim] - 1) / window.stride[dim];
  };
  for_each_band(
      context, window, bands, plane_count(self), [&](int64_t plane, int64_t band, float* copy) {
        const simd::Windows windows =
            bands.windows(self.unchecked_data<float>() + plane * window.input[0] * window.input[1],
                          band, kNothing, copy);
        const int64_t first = bands.first_line(band);
        const int64_t offset = (plane * window.output[0] + first) * width;
        float* largest = out.unchecked_mutable_data<float>() + offset;
        int64_t* index = indices.unchecked_mutable_data<int64_t>() + offset;
        simd::largest_of_windows(windows, bands.indices(band), width, largest, index);
        // If all elements of a window are -infinity, the index is that of the first element outside
        // the padding.
        for (int64_t y = first; y < first + windows.lines; ++y, largest += width, index += width) {
          const int64_t cut = y < first_inside(0) ? width : std::min(first_inside(1), width);
          for (int64_t x = 0; x < cut; ++x) {
            if (largest[x] != kNothing) continue;
            index[x] = window.range(0, y).begin * window.input[1] + window.range(1, x).begin;
          }
        }
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
  const Bands bands(window);
  if (!bands.fit()) return false;
  const int64_t width = window.output[1];
  auto* const divisors =
      static_cast<float*>(context.allocate_temp({window.output[0], width, sizeof(float)}));
  if (divisors == nullptr) return true;
  const auto size = [&](const PoolRange& range) {
    const int64_t count = count_include_pad ? range.padded : range.count();
    // The sum of an empty window is zero, so the divisor may be any number but 0.
    return range.end <= range.begin ? 1.0F : static_cast<float>(count);
  };
  for (int64_t x = 0; x < width; ++x) divisors[x] = size(window.range(1, x));
  for (int64_t y = window.output[0] - 1; y >= 0; --y) {
    const float height = size(window.range(0, y));
    for (int64_t x = 0; x < width; ++x) {
      divisors[y * width + x] =
          divisor_override ? static_cast<float>(*divisor_override) : height * divisors[x];
    }
  }
  for_each_band(
      context, window, bands, plane_count(self), [&](int64_t plane, int64_t band, float* copy) {
        const int64_t first = bands.first_line(band);
        simd::sums_of_windows(
            bands.windows(self.unchecked_data<float>() + plane * window.input[0] * window.input[1],
                          band, 0.0F, copy),
            width, divisors + first * width,
            out.unchecked_mutable_data<float>() + (plane * window.output[0] + first) * width);
      });
  return true;
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(avg_pool2d_out, "aten::avg_pool2d.out", avg_pool2d_out, portable)
VITRINE_OPTIMIZED_KERNEL(max_pool2d_with_indices_out, "aten::max_pool2d_with_indices.out",
                         max_pool2d_with_indices_out, portable)
