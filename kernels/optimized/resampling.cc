#include "kernels/util/resampling.h"

#include <cstring>
#include <span>
#include <utility>

#include "kernels/optimized/float_images.h"
#include "kernels/optimized/take_over.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

// Two adjacent lines of an image, resized to the output's width. If the output is computed from top
// to bottom, each line is resized once.
class StretchedLines {
 public:
  StretchedLines(const float* image, int64_t width, std::span<const LinearSample<float>> columns,
                 float* memory)
      : image_(image), width_(width), columns_(columns), memory_(memory) {}

  // Adjacent lines use different slots of the buffer.
  const float* line(int64_t y) {
    const auto slot = static_cast<size_t>(y % 2);
    float* const to = memory_ + slot * columns_.size();
    if (std::exchange(line_in_slot_[slot], y) == y) return to;
    const float* const from = image_ + y * width_;
    for (size_t x = 0; x < columns_.size(); ++x) {
      const LinearSample<float>& column = columns_[x];
      to[x] = (1.0F - column.weight) * from[column.first] + column.weight * from[column.second];
    }
    return to;
  }

 private:
  const float* image_;
  int64_t width_;
  std::span<const LinearSample<float>> columns_;
  float* memory_;
  int64_t line_in_slot_[2] = {-1, -1};
};

bool upsample_bilinear2d_vec_out(KernelContext& context, const Tensor& input,
                                 std::optional<std::span<const int64_t>> output_size,
                                 bool align_corners,
                                 std::optional<std::span<const double>> scale_factors,
                                 Tensor& out) {
  if (!are_row_major_float(input, out)) return false;
  const auto resampling = read_resampling(context, input, output_size, scale_factors, out);
  if (!resampling) return true;
  const int64_t height_in = resampling->input[0];
  const int64_t width_in = resampling->input[1];
  const int64_t height_out = resampling->output[0];
  const int64_t width_out = resampling->output[1];
  const LinearSampler<float> row_of(*resampling, 0, align_corners);
  const LinearSampler<float> column_of(*resampling, 1, align_corners);
  const auto columns =
      context.allocate_temp_array<LinearSample<float>>(static_cast<size_t>(width_out));
  auto* const memory = static_cast<float*>(
      context.allocate_temp({worker_count(context), 2, width_out, sizeof(float)}));
  if (columns.empty() || memory == nullptr) return true;
  for (int64_t x = 0; x < width_out; ++x) columns[static_cast<size_t>(x)] = column_of(x);
  parallel(context, plane_count(input), 8 * out.numel(), [&](int64_t plane, int64_t worker) {
    StretchedLines stretched(input.unchecked_data<float>() + plane * height_in * width_in, width_in,
                             columns, memory + worker * 2 * width_out);
    float* to = out.unchecked_mutable_data<float>() + plane * height_out * width_out;
    for (int64_t y = 0; y < height_out; ++y, to += width_out) {
      const auto row = row_of(y);
      const float* const first = stretched.line(row.first);
      const float* const second = stretched.line(row.second);
      for (int64_t x = 0; x < width_out; ++x) {
        to[x] = (1.0F - row.weight) * first[x] + row.weight * second[x];
      }
    }
  });
  return true;
}

bool upsample_nearest2d_vec_out(KernelContext& context, const Tensor& input,
                                std::optional<std::span<const int64_t>> output_size,
                                std::optional<std::span<const double>> scale_factors, Tensor& out) {
  if (!are_row_major_float(input, out)) return false;
  const auto resampling = read_nearest_resampling(context, input, output_size, scale_factors, out);
  if (!resampling) return true;
  const int64_t height_in = resampling->input[0];
  const int64_t width_in = resampling->input[1];
  const int64_t height_out = resampling->output[0];
  const int64_t width_out = resampling->output[1];
  const auto columns = context.allocate_temp_array<int64_t>(static_cast<size_t>(width_out));
  if (columns.empty()) return true;
  const auto row_scale = resampling->scale<float>(0, false);
  const auto column_scale = resampling->scale<float>(1, false);
  for (int64_t x = 0; x < width_out; ++x) {
    columns[static_cast<size_t>(x)] = nearest_index(x, column_scale, width_in);
  }
  parallel(context, plane_count(input), 8 * out.numel(), [&](int64_t plane, int64_t) {
    const float* const from = input.unchecked_data<float>() + plane * height_in * width_in;
    float* to = out.unchecked_mutable_data<float>() + plane * height_out * width_out;
    int64_t last = -1;
    for (int64_t y = 0; y < height_out; ++y, to += width_out) {
      const int64_t row = nearest_index(y, row_scale, height_in);
      if (row == last) {
        std::memcpy(to, to - width_out, static_cast<size_t>(width_out) * sizeof(float));
        continue;
      }
      last = row;
      const float* const line = from + row * width_in;
      for (int64_t x = 0; x < width_out; ++x) to[x] = line[columns[static_cast<size_t>(x)]];
    }
  });
  return true;
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(upsample_bilinear2d_vec_out, "aten::upsample_bilinear2d.vec_out",
                         upsample_bilinear2d_vec_out, portable)
VITRINE_OPTIMIZED_KERNEL(upsample_nearest2d_vec_out, "aten::upsample_nearest2d.vec_out",
                         upsample_nearest2d_vec_out, portable)
