// Convolution as a matrix product, whose panels are gathered from the image.
#include <algorithm>
#include <cstring>

#include "kernels/optimized/convolution_shape.h"
#include "kernels/optimized/gemm.h"
#include "kernels/optimized/simd/depthwise.h"

namespace vitrine::optimized {

namespace {

// `count` neighbours of an output line.
struct Run {
  Place place;  // of the first
  int64_t count;
};

// The lines that the output places [first, first + count) are of.
template <class Visit>
void each_run(const Place& output, int64_t first, int64_t count, Visit&& visit) {
  Place place{first / output[2] / output[1], first / output[2] % output[1], first % output[2]};
  for (int64_t done = 0; done < count;) {
    const int64_t length = std::min(count - done, output[2] - place[2]);
    visit(done, Run{place, length});
    done += length;
    place[2] = 0;
    if (++place[1] == output[1]) {
      place[1] = 0;
      ++place[0];
    }
  }
}

// One image and group as a matrix product.
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

  // tap(number, place in the kernel), row-major.
  template <class Tap>
  void each_tap(Tap&& tap) const {
    Place place;
    int64_t number = 0;
    for (place[0] = 0; place[0] < shape_.kernel[0]; ++place[0]) {
      for (place[1] = 0; place[1] < shape_.kernel[1]; ++place[1]) {
        for (place[2] = 0; place[2] < shape_.kernel[2]; ++place[2]) {
          tap(number++, std::as_const(place));
        }
      }
    }
  }

  // Coordinate of the input that output coordinate `at` sees through `tap`.
  int64_t source(size_t dim, int64_t at, int64_t tap) const {
    return at * shape_.window.stride[dim] - shape_.window.padding[dim] +
           tap * shape_.window.dilation[dim];
  }
  int64_t weight_offset(const Place& tap) const {
    const Layout& layout = shape_.weight_layout;
    return tap[0] * layout.strides[2] + tap[1] * layout.strides[3] + tap[2] * layout.strides[4];
  }

  const ConvolutionShape& shape_;
  const float* input_;
  const float* weight_;
  float* out_;
  const float* bias_;
};

// Rows are output channels, columns are places: for planes of channels (dim order N, C, H, W).
class PlaneOperands final : public ImageOperands {
 public:
  using ImageOperands::ImageOperands;

  GemmRows left_rows(int64_t row, int64_t count, float* scratch) const override {
    const Layout& layout = shape_.weight_layout;
    const float* const first = weight_ + row * layout.strides[0];
    if (!wants_scratch()) return {first, layout.strides[0]};
    const int64_t taps = shape_.taps();
    for (int64_t r = 0; r < count; ++r) {
      each_tap([&](int64_t tap, const Place& place) {
        const float* from = first + r * layout.strides[0] + weight_offset(place);
        float* to = scratch + r * shape_.depth() + tap;
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
      each_tap([&](int64_t, const Place& tap) {
        each_run(shape_.output, column, count, [&](int64_t, const Run& run) {
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
      each_run(shape_.output, column, count, [&](int64_t done, const Run& run) {
        float* const to = plane + run.place[0] * layout.strides[2] +
                          run.place[1] * layout.strides[3] + run.place[2] * layout.strides[4];
        for (int64_t c = 0; c < run.count; ++c) to[c * layout.strides[4]] = sums[done + c] + bias;
      });
    }
  }

 private:
  // The part of a plane that a line of the output reads through one tap; zero in padding.
  void copy_run(const float* plane, const Run& run, const Place& tap, float* to) const {
    const Layout& layout = shape_.input_layout;
    const int64_t z = source(0, run.place[0], tap[0]);
    const int64_t y = source(1, run.place[1], tap[1]);
    if (z < 0 || z >= shape_.in[0] || y < 0 || y >= shape_.in[1]) {
      std::fill(to, to + run.count, 0.0F);
      return;
    }
    const float* const line = plane + z * layout.strides[2] + y * layout.strides[3];
    const int64_t step = shape_.window.stride[2];
    const int64_t x = source(2, run.place[2], tap[2]);
    // x + i * step is inside the line for i in [begin, end).
    const int64_t begin = x >= 0 ? 0 : std::min(run.count, (-x + step - 1) / step);
    const int64_t room = shape_.in[2] - x;  // may be negative
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

// Rows are places, columns are output channels: for channels side by side (dim order N, H, W, C).
// Along the depth taps come first, then channels.
class PixelOperands final : public ImageOperands {
 public:
  using ImageOperands::ImageOperands;

  GemmRows left_rows(int64_t row, int64_t count, float* scratch) const override {
    const Layout& layout = shape_.input_layout;
    if (!wants_scratch()) return {input_ + row * layout.strides[4], layout.strides[4]};
    const bool adjacent = layout.strides[1] == 1 && layout.strides[4] == shape_.group_channels &&
                          shape_.window.dilation[2] == 1;
    each_run(shape_.output, row, count, [&](int64_t done, const Run& run) {
      for (int64_t i = 0; i < run.count; ++i) {
        const Place place{run.place[0], run.place[1], run.place[2] + i};
        float* const to = scratch + (done + i) * shape_.depth();
        const int64_t x = source(2, place[2], 0);
        if (adjacent && x >= 0 && x + shape_.kernel[2] <= shape_.in[2]) {
          copy_lines(place, to);
        } else {
          copy_taps(place, to);
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
    each_tap([&](int64_t tap, const Place& place) {
      for (int64_t c = 0; c < count; ++c) {
        const float* const from = weight_ + (column + c) * layout.strides[0] + weight_offset(place);
        float* const to = panel + tap * shape_.group_channels * width + c;
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
    each_run(shape_.output, row, rows, [&](int64_t done, const Run& run) {
      for (int64_t i = 0; i < run.count; ++i) {
        float* const to = out_ + run.place[0] * layout.strides[2] +
                          run.place[1] * layout.strides[3] +
                          (run.place[2] + i) * layout.strides[4] + column * layout.strides[1];
        const float* const from = sums + (done + i) * stride;
        for (int64_t c = 0; c < count; ++c) {
          to[c * layout.strides[1]] = from[c] + (bias_ == nullptr ? 0.0F : bias_[column + c]);
        }
      }
    });
  }

 private:
  // What an output place sees, where the taps of a line are inside the image and adjacent.
  void copy_lines(const Place& place, float* to) const {
    const Layout& layout = shape_.input_layout;
    const int64_t count = shape_.kernel[2] * shape_.group_channels;
    const float* const column = input_ + source(2, place[2], 0) * layout.strides[4];
    for (int64_t kz = 0; kz < shape_.kernel[0]; ++kz) {
      const int64_t z = source(0, place[0], kz);
      for (int64_t ky = 0; ky < shape_.kernel[1]; ++ky, to += count) {
        const int64_t y = source(1, place[1], ky);
        if (z < 0 || z >= shape_.in[0] || y < 0 || y >= shape_.in[1]) {
          std::fill(to, to + count, 0.0F);
        } else {
          std::memcpy(to, column + z * layout.strides[2] + y * layout.strides[3],
                      static_cast<size_t>(count) * sizeof(float));
        }
      }
    }
  }
  // The same in any case.
  void copy_taps(const Place& place, float* to) const {
    const Layout& layout = shape_.input_layout;
    const int64_t channels = shape_.group_channels;
    each_tap([&](int64_t tap, const Place& at) {
      const int64_t z = source(0, place[0], at[0]);
      const int64_t y = source(1, place[1], at[1]);
      const int64_t x = source(2, place[2], at[2]);
      float* const target = to + tap * channels;
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

void convolve_as_product(KernelContext& context, const ConvolutionShape& shape) {
  const bool pixels =
      shape.out_layout.strides[1] == 1 && shape.out_layout.strides[4] != 1 && shape.places() > 1;
  for (int64_t image = 0; image < shape.out_layout.sizes[0]; ++image) {
    for (int64_t group = 0; group < shape.window.groups && !context.failed(); ++group) {
      if (pixels) {
        gemm(context, shape.places(), shape.group_rows, shape.depth(),
             PixelOperands(shape, image, group));
      } else {
        gemm(context, shape.group_rows, shape.places(), shape.depth(),
             PlaneOperands(shape, image, group));
      }
    }
  }
}

}  // namespace vitrine::optimized
