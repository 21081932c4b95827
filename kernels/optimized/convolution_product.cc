// Convolutions as matrix products. Patches of the image are copied a few at a time, so the matrix
// of all patches is never stored.
#include <algorithm>
#include <cstring>

#include "kernels/optimized/convolution_shape.h"
#include "kernels/optimized/gemm.h"
#include "kernels/optimized/simd/depthwise.h"
#include "kernels/optimized/simd/gemm.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

// `count` consecutive elements of an output line.
struct Run {
  Spatial position;
  int64_t count;
};

// Divides the output positions [first, first + count) into runs within lines, and calls visit(done,
// run) for each run. `done` is the number of positions before the run.
template <class Visit>
void for_each_run(const Spatial& output, int64_t first, int64_t count, Visit&& visit) {
  Spatial position{first / output[2] / output[1], first / output[2] % output[1], first % output[2]};
  for (int64_t done = 0; done < count;) {
    const int64_t length = std::min(count - done, output[2] - position[2]);
    visit(done, Run{position, length});
    done += length;
    position[2] = 0;
    if (++position[1] == output[1]) {
      position[1] = 0;
      ++position[0];
    }
  }
}

class ImageOperands : public GemmOperands {
 public:
  ImageOperands(const ConvolutionShape& shape, int64_t image, int64_t group) : shape_(shape) {
    input_ = shape.input + image * shape.input_layout.strides[0] +
             group * shape.group_channels * shape.input_layout.strides[1];
    weight_ = shape.weight + group * shape.group_rows * shape.weight_layout.strides[0];
    out_ = shape.out + image * shape.out_layout.strides[0] +
           group * shape.group_rows * shape.out_layout.strides[1];
    bias_ = shape.bias == nullptr ? nullptr : shape.bias + group * shape.group_rows;
  }

 protected:
  ~ImageOperands() = default;

  // Calls visit(row-major index, tap) for each position `tap` of the kernel, in row-major order.
  template <class Visit>
  void for_each_tap(Visit&& visit) const {
    Spatial tap;
    int64_t index = 0;
    for (tap[0] = 0; tap[0] < shape_.kernel[0]; ++tap[0]) {
      for (tap[1] = 0; tap[1] < shape_.kernel[1]; ++tap[1]) {
        for (tap[2] = 0; tap[2] < shape_.kernel[2]; ++tap[2]) {
          visit(index++, std::as_const(tap));
        }
      }
    }
  }

  // The input coordinate that output coordinate `at` reads through `tap`.
  int64_t source(size_t dim, int64_t at, int64_t tap) const {
    return at * shape_.window.stride[dim] - shape_.window.padding[dim] +
           tap * shape_.window.dilation[dim];
  }
  int64_t weight_offset(const Spatial& tap) const {
    const Layout& layout = shape_.weight_layout;
    return tap[0] * layout.strides[2] + tap[1] * layout.strides[3] + tap[2] * layout.strides[4];
  }

  const ConvolutionShape& shape_;
  const float* input_;
  const float* weight_;
  float* out_;
  const float* bias_;
};

// Operands for dim order N, C, H, W. Rows are output channels. Columns are output positions.
class PlaneOperands final : public ImageOperands {
 public:
  using ImageOperands::ImageOperands;

  GemmRows left_rows(int64_t row, int64_t count, float* scratch) const override {
    const Layout& layout = shape_.weight_layout;
    const float* const first = weight_ + row * layout.strides[0];
    if (!wants_scratch()) return {first, layout.strides[0]};
    const int64_t taps = shape_.taps();
    for (int64_t r = 0; r < count; ++r) {
      for_each_tap([&](int64_t index, const Spatial& tap) {
        const float* from = first + r * layout.strides[0] + weight_offset(tap);
        float* to = scratch + r * shape_.depth() + index;
        for (int64_t c = 0; c < shape_.group_channels; ++c) {
          to[c * taps] = from[c * layout.strides[1]];
        }
      });
    }
    return {scratch, shape_.depth()};
  }
  bool wants_scratch() const override {
    const Layout& layout = shape_.weight_layout;
    return !((shape_.taps() == 1 || (is_plane(layout) && layout.strides[4] == 1)) &&
             (layout.strides[1] == shape_.taps() || shape_.group_channels == 1));
  }

  void pack_right(int64_t column, int64_t count, int64_t width, float* panel) const override {
    const Layout& layout = shape_.input_layout;
    float* to = panel;
    if (const GemmRows planes = right_in_place(); planes.data != nullptr) {
      for (int64_t channel = 0; channel < shape_.group_channels; ++channel, to += width) {
        std::copy_n(planes.data + channel * planes.stride + column, count, to);
        std::fill(to + count, to + width, 0.0F);
      }
      return;
    }
    for (int64_t channel = 0; channel < shape_.group_channels; ++channel) {
      const float* const plane = input_ + channel * layout.strides[1];
      for_each_tap([&](int64_t, const Spatial& tap) {
        for_each_run(shape_.output, column, count, [&](int64_t, const Run& run) {
          copy_run(plane, run, tap, to);
          to += run.count;
        });
        std::fill(to, to + (width - count), 0.0F);
        to += width - count;
      });
    }
  }
  GemmRows right_in_place() const override {
    const bool flat = shape_.taps() == 1 && shape_.in == shape_.output && shape_.in[0] == 1 &&
                      shape_.in[1] == 1 && shape_.window.stride[2] == 1 &&
                      shape_.window.padding[2] == 0 && shape_.input_layout.strides[4] == 1;
    return {flat ? input_ : nullptr, shape_.input_layout.strides[1]};
  }

  InPlace result_in_place() const override {
    const Layout& layout = shape_.out_layout;
    const bool flat = layout.strides[4] == 1 && is_plane(layout);
    return {flat ? out_ : nullptr, layout.strides[1], bias_};
  }
  void store(int64_t row, int64_t rows, int64_t column, int64_t count, const float* sums,
             int64_t stride) const override {
    const Layout& layout = shape_.out_layout;
    const bool flat = layout.strides[4] == 1 && is_plane(layout);
    for (int64_t r = 0; r < rows; ++r, sums += stride) {
      const float bias = bias_ == nullptr ? 0.0F : bias_[row + r];
      float* const plane = out_ + (row + r) * layout.strides[1];
      if (flat) {
        float* const to = plane + column;
        for (int64_t c = 0; c < count; ++c) to[c] = sums[c] + bias;
        continue;
      }
      for_each_run(shape_.output, column, count, [&](int64_t done, const Run& run) {
        float* const to = plane + run.position[0] * layout.strides[2] +
                          run.position[1] * layout.strides[3] + run.position[2] * layout.strides[4];
        for (int64_t c = 0; c < run.count; ++c) to[c * layout.strides[4]] = sums[done + c] + bias;
      });
    }
  }

 private:
  // Copies the input elements of one tap for a run of output positions. Writes zeros for padding.
  void copy_run(const float* plane, const Run& run, const Spatial& tap, float* to) const {
    const Layout& layout = shape_.input_layout;
    const int64_t z = source(0, run.position[0], tap[0]);
    const int64_t y = source(1, run.position[1], tap[1]);
    if (z < 0 || z >= shape_.in[0] || y < 0 || y >= shape_.in[1]) {
      std::fill(to, to + run.count, 0.0F);
      return;
    }
    const float* const line = plane + z * layout.strides[2] + y * layout.strides[3];
    const int64_t step = shape_.window.stride[2];
    const int64_t x = source(2, run.position[2], tap[2]);
    // x + i * step is inside the line if begin <= i < end.
    const int64_t begin = x >= 0 ? 0 : std::min(run.count, (-x + step - 1) / step);
    const int64_t room = shape_.in[2] - x;
    const int64_t end = std::clamp(room <= 0 ? 0 : (room + step - 1) / step, begin, run.count);
    std::fill(to, to + begin, 0.0F);
    const int64_t stride = step * layout.strides[4];
    if (begin < end) {
      const float* const from = line + (x + begin * step) * layout.strides[4];
      if (stride == 1) {
        std::memcpy(to + begin, from, static_cast<size_t>(end - begin) * sizeof(float));
      } else if (stride == 2) {
        simd::take_every_other(from, end - begin, to + begin);
      } else {
        for (int64_t i = 0; i < end - begin; ++i) to[begin + i] = from[i * stride];
      }
    }
    std::fill(to + end, to + run.count, 0.0F);
  }
};

// Operands for dim order N, H, W, C. Rows are output positions. Columns are output channels. The
// product sums over the index tap * channels + channel.
class PixelOperands final : public ImageOperands {
 public:
  using ImageOperands::ImageOperands;

  GemmRows left_rows(int64_t row, int64_t count, float* scratch) const override {
    const Layout& layout = shape_.input_layout;
    if (!wants_scratch()) return {input_ + row * layout.strides[4], layout.strides[4]};
    const bool adjacent = layout.strides[1] == 1 && layout.strides[4] == shape_.group_channels &&
                          shape_.window.dilation[2] == 1;
    for_each_run(shape_.output, row, count, [&](int64_t done, const Run& run) {
      for (int64_t i = 0; i < run.count; ++i) {
        const Spatial position{run.position[0], run.position[1], run.position[2] + i};
        float* const to = scratch + (done + i) * shape_.depth();
        const int64_t x = source(2, position[2], 0);
        if (adjacent && x >= 0 && x + shape_.kernel[2] <= shape_.in[2]) {
          copy_lines(position, to);
        } else {
          copy_taps(position, to);
        }
      }
    });
    return {scratch, shape_.depth()};
  }
  bool wants_scratch() const override {
    const bool flat = shape_.taps() == 1 && shape_.in == shape_.output && shape_.in[0] == 1 &&
                      shape_.in[1] == 1 && shape_.window.stride[2] == 1 &&
                      shape_.window.padding[2] == 0;
    return !flat || (shape_.input_layout.strides[1] != 1 && shape_.group_channels > 1);
  }

  void pack_right(int64_t column, int64_t count, int64_t width, float* panel) const override {
    const Layout& layout = shape_.weight_layout;
    for_each_tap([&](int64_t index, const Spatial& tap) {
      for (int64_t c = 0; c < count; ++c) {
        const float* const from = weight_ + (column + c) * layout.strides[0] + weight_offset(tap);
        float* const to = panel + index * shape_.group_channels * width + c;
        for (int64_t k = 0; k < shape_.group_channels; ++k) {
          to[k * width] = from[k * layout.strides[1]];
        }
      }
    });
    if (count == width) return;
    for (int64_t d = 0; d < shape_.depth(); ++d) {
      std::fill(panel + d * width + count, panel + (d + 1) * width, 0.0F);
    }
  }

  void store(int64_t row, int64_t rows, int64_t column, int64_t count, const float* sums,
             int64_t stride) const override {
    const Layout& layout = shape_.out_layout;
    for_each_run(shape_.output, row, rows, [&](int64_t done, const Run& run) {
      for (int64_t i = 0; i < run.count; ++i) {
        float* const to = out_ + run.position[0] * layout.strides[2] +
                          run.position[1] * layout.strides[3] +
                          (run.position[2] + i) * layout.strides[4] + column * layout.strides[1];
        const float* const from = sums + (done + i) * stride;
        for (int64_t c = 0; c < count; ++c) {
          to[c * layout.strides[1]] = from[c] + (bias_ == nullptr ? 0.0F : bias_[column + c]);
        }
      }
    });
  }

 private:
  // Copies the input elements of all taps for one output position. In each input line, these
  // elements must be contiguous and inside the line. Writes zeros for lines outside the image.
  void copy_lines(const Spatial& position, float* to) const {
    const Layout& layout = shape_.input_layout;
    const int64_t count = shape_.kernel[2] * shape_.group_channels;
    const float* const column = input_ + source(2, position[2], 0) * layout.strides[4];
    for (int64_t kz = 0; kz < shape_.kernel[0]; ++kz) {
      const int64_t z = source(0, position[0], kz);
      for (int64_t ky = 0; ky < shape_.kernel[1]; ++ky, to += count) {
        const int64_t y = source(1, position[1], ky);
        if (z < 0 || z >= shape_.in[0] || y < 0 || y >= shape_.in[1]) {
          std::fill(to, to + count, 0.0F);
        } else {
          std::memcpy(to, column + z * layout.strides[2] + y * layout.strides[3],
                      static_cast<size_t>(count) * sizeof(float));
        }
      }
    }
  }
  // Like copy_lines(), but for any taps. Writes zeros for taps outside the image.
  void copy_taps(const Spatial& position, float* to) const {
    const Layout& layout = shape_.input_layout;
    const int64_t channels = shape_.group_channels;
    for_each_tap([&](int64_t index, const Spatial& tap) {
      const int64_t z = source(0, position[0], tap[0]);
      const int64_t y = source(1, position[1], tap[1]);
      const int64_t x = source(2, position[2], tap[2]);
      float* const target = to + index * channels;
      if (z < 0 || z >= shape_.in[0] || y < 0 || y >= shape_.in[1] || x < 0 || x >= shape_.in[2]) {
        std::fill(target, target + channels, 0.0F);
        return;
      }
      const float* const from =
          input_ + z * layout.strides[2] + y * layout.strides[3] + x * layout.strides[4];
      if (layout.strides[1] == 1) {
        std::memcpy(target, from, static_cast<size_t>(channels) * sizeof(float));
      } else {
        for (int64_t c = 0; c < channels; ++c) target[c] = from[c * layout.strides[1]];
      }
    });
  }
};

}  // namespace

bool convolve_single_pixels(KernelContext& context, const ConvolutionShape& shape) {
  constexpr Spatial kOne = {1, 1, 1};
  const int64_t depth = shape.group_channels;
  const int64_t rows = shape.group_rows;
  const auto is_dense = [](const Layout& layout, int64_t count) {
    return count == 1 || layout.strides[1] == 1;
  };
  if (shape.in != kOne || shape.output != kOne || shape.kernel != kOne ||
      shape.window.padding != Spatial{0, 0, 0} || !is_dense(shape.weight_layout, depth) ||
      !is_dense(shape.input_layout, shape.window.groups * depth) ||
      !is_dense(shape.out_layout, shape.window.groups * rows)) {
    return false;
  }
  const int64_t stride = shape.weight_layout.strides[0];
  for (int64_t image = 0; image < shape.out_layout.sizes[0]; ++image) {
    const float* const pixel = shape.input + image * shape.input_layout.strides[0];
    float* const out = shape.out + image * shape.out_layout.strides[0];
    parallel_ranges(context, shape.window.groups * rows, 4, 4 * depth,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t row = begin; row < end;) {
                        const int64_t group = row / rows;
                        const int64_t count = std::min(end, (group + 1) * rows) - row;
                        simd::multiply_vector(shape.weight + row * stride, stride, count,
                                              pixel + group * depth, depth, out + row);
                        row += count;
                      }
                      for (int64_t row = begin; shape.bias != nullptr && row < end; ++row) {
                        out[row] += shape.bias[row];
                      }
                    });
  }
  return true;
}

void convolve_as_product(KernelContext& context, const ConvolutionShape& shape) {
  const bool pixels =
      shape.out_layout.strides[1] == 1 && shape.out_layout.strides[4] != 1 && shape.positions() > 1;
  for (int64_t image = 0; image < shape.out_layout.sizes[0]; ++image) {
    for (int64_t group = 0; group < shape.window.groups && !context.failed(); ++group) {
      if (pixels) {
        gemm(context, shape.positions(), shape.group_rows, shape.depth(),
             PixelOperands(shape, image, group));
      } else {
        gemm(context, shape.group_rows, shape.positions(), shape.depth(),
             PlaneOperands(shape, image, group));
      }
    }
  }
}

}  // namespace vitrine::optimized
