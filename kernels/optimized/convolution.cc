#include "kernels/optimized/convolution.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "kernels/optimized/as_float.h"
#include "kernels/optimized/gemm.h"
#include "kernels/optimized/matrix_product.h"
#include "kernels/optimized/parallel.h"
#include "kernels/optimized/simd/depthwise.h"

namespace vitrine::optimized {

namespace {

using Place = std::array<int64_t, 3>;  // depth, height, width

// Everything in numbers; strides count elements.
struct Shape {
  const float* input;
  const float* weight;
  const float* bias;  // or null
  float* out;
  Place in;      // sizes
  Place kernel;  // sizes
  Place output;  // sizes
  ConvolutionWindow window;
  Layout input_layout;  // [N, C, depth, height, width]
  Layout weight_layout;
  Layout out_layout;
  int64_t group_rows;      // output channels of a group
  int64_t group_channels;  // input channels of a group

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t depth() const { return group_channels * taps(); }
  int64_t places() const { return output[0] * output[1] * output[2]; }
};

Place spatial(const std::array<int64_t, kMaxLoopRank>& numbers) {
  return {numbers[2], numbers[3], numbers[4]};
}

// Whether depth, height and width are one dimension of stride `strides[4]`.
bool is_plane(const Layout& layout) {
  return (layout.sizes[3] == 1 || layout.strides[3] == layout.sizes[4] * layout.strides[4]) &&
         (layout.sizes[2] == 1 ||
          layout.strides[2] == layout.sizes[4] * layout.sizes[3] * layout.strides[4]);
}

void flatten(Layout& layout, Place& sizes) {
  sizes = {1, 1, sizes[0] * sizes[1] * sizes[2]};
  layout.sizes[2] = 1;
  layout.sizes[3] = 1;
  layout.sizes[4] = sizes[2];
}

Shape make_shape(const Convolution& c) {
  Shape shape{c.input.data<float>(),
              c.weight.data<float>(),
              c.bias == nullptr ? nullptr : c.bias->data<float>(),
              c.out.mutable_data<float>(),
              {},
              {},
              {},
              c.window,
              five_dimensions(c.input),
              five_dimensions(c.weight),
              five_dimensions(c.out),
              c.out.size(1) / c.window.groups,
              c.input.size(1) / c.window.groups};
  shape.in = spatial(shape.input_layout.sizes);
  shape.kernel = spatial(shape.weight_layout.sizes);
  shape.output = spatial(shape.out_layout.sizes);
  const bool pointwise = shape.taps() == 1 && shape.in == shape.output &&
                         c.window.stride == Place{1, 1, 1} && c.window.padding == Place{0, 0, 0};
  if (pointwise && is_plane(shape.input_layout) && is_plane(shape.out_layout)) {
    flatten(shape.input_layout, shape.in);
    flatten(shape.out_layout, shape.output);
  }
  return shape;
}

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
  ImageOperands(const Shape& shape, int64_t image, int64_t group) : shape_(shape) {
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

  const Shape& shape_;
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
  // What a line of the output sees of a plane through one tap; zero in padding.
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
    const int64_t channels = shape_.group_channels;
    each_run(shape_.output, row, count, [&](int64_t done, const Run& run) {
      for (int64_t i = 0; i < run.count; ++i) {
        float* const to = scratch + (done + i) * shape_.depth();
        each_tap([&](int64_t tap, const Place& place) {
          const int64_t z = source(0, run.place[0], place[0]);
          const int64_t y = source(1, run.place[1], place[1]);
          const int64_t x = source(2, run.place[2] + i, place[2]);
          float* const target = to + tap * channels;
          if (z < 0 || z >= shape_.in[0] || y < 0 || y >= shape_.in[1] || x < 0 ||
              x >= shape_.in[2]) {
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
};

void multiply_images(KernelContext& context, const Shape& shape) {
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

// --- One channel a group ---

constexpr int64_t kMaxDepthwiseTaps = 128;
// Copies of lines are as long as these make them.
constexpr int64_t kMaxDepthwiseStride = 8;
constexpr int64_t kMaxDepthwisePadding = 64;

bool is_depthwise(const Shape& shape) {
  return shape.group_channels == 1 && shape.window.groups > 1 && shape.kernel[0] == 1 &&
         shape.in[0] == 1 && shape.window.padding[0] == 0 && shape.taps() <= kMaxDepthwiseTaps &&
         shape.window.stride[2] <= kMaxDepthwiseStride &&
         shape.window.padding[2] <= kMaxDepthwisePadding;
}

int64_t depthwise_work(const Shape& shape) {
  return shape.out_layout.sizes[0] * shape.out_layout.sizes[1] * shape.places() * shape.taps();
}

// Dim order N, C, H, W.
void convolve_planes(KernelContext& context, const Shape& shape) {
  const ConvolutionWindow& window = shape.window;
  const int64_t scratch_size =
      simd::depthwise_scratch(shape.in[1], shape.in[2], window.stride[2], window.padding[2]);
  const std::span<float> scratch =
      context.allocate_temp_array<float>(static_cast<size_t>(worker_count(context) * scratch_size));
  if (scratch.empty()) return;
  const Layout& in = shape.input_layout;
  const Layout& out = shape.out_layout;
  const Layout& weight = shape.weight_layout;
  const int64_t channels = out.sizes[1];
  const auto convolve_plane = [&](int64_t item, int64_t worker) {
    const int64_t image = item / channels;
    const int64_t channel = item % channels;
    float weights[kMaxDepthwiseTaps];
    for (int64_t ky = 0; ky < shape.kernel[1]; ++ky) {
      for (int64_t kx = 0; kx < shape.kernel[2]; ++kx) {
        weights[ky * shape.kernel[2] + kx] =
            shape.weight[channel * weight.strides[0] + ky * weight.strides[3] +
                         kx * weight.strides[4]];
      }
    }
    simd::depthwise_plane({
        .input = shape.input + image * in.strides[0] + channel / shape.group_rows * in.strides[1],
        .input_stride = in.strides[3],
        .height = shape.in[1],
        .width = shape.in[2],
        .scratch = scratch.data() + worker * scratch_size,
        .weights = weights,
        .kernel_height = shape.kernel[1],
        .kernel_width = shape.kernel[2],
        .stride = window.stride[1],
        .padding = window.padding[1],
        .dilation = window.dilation[1],
        .step = window.stride[2],
        .side = window.padding[2],
        .spread = window.dilation[2],
        .bias = shape.bias == nullptr ? 0.0F : shape.bias[channel],
        .out = shape.out + image * out.strides[0] + channel * out.strides[1],
        .out_stride = out.strides[3],
        .out_height = shape.output[1],
        .out_width = shape.output[2],
    });
  };
  parallel(context, out.sizes[0] * channels, depthwise_work(shape), convolve_plane);
}

// Dim order N, H, W, C.
void convolve_pixels(KernelContext& context, const Shape& shape) {
  const Layout& in = shape.input_layout;
  const Layout& out = shape.out_layout;
  const int64_t channels = out.sizes[1];
  const int64_t taps = shape.taps();
  const std::span<float> weights =
      context.allocate_temp_array<float>(static_cast<size_t>(taps * channels));
  if (weights.empty()) return;
  const Layout& layout = shape.weight_layout;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const float* const from = shape.weight + tap / shape.kernel[2] * layout.strides[3] +
                              tap % shape.kernel[2] * layout.strides[4];
    float* const to = weights.data() + tap * channels;
    for (int64_t c = 0; c < channels; ++c) to[c] = from[c * layout.strides[0]];
  }
  parallel(context, out.sizes[0] * shape.output[1], depthwise_work(shape),
           [&](int64_t item, int64_t) {
             const int64_t image = item / shape.output[1];
             const int64_t y = item % shape.output[1];
             for (int64_t x = 0; x < shape.output[2]; ++x) {
               const float* places[kMaxDepthwiseTaps];
               for (int64_t tap = 0; tap < taps; ++tap) {
                 const int64_t from_y = y * shape.window.stride[1] - shape.window.padding[1] +
                                        tap / shape.kernel[2] * shape.window.dilation[1];
                 const int64_t from_x = x * shape.window.stride[2] - shape.window.padding[2] +
                                        tap % shape.kernel[2] * shape.window.dilation[2];
                 const bool inside =
                     from_y >= 0 && from_y < shape.in[1] && from_x >= 0 && from_x < shape.in[2];
                 places[tap] = inside ? shape.input + image * in.strides[0] +
                                            from_y * in.strides[3] + from_x * in.strides[4]
                                      : nullptr;
               }
               simd::depthwise_place(
                   places, weights.data(), taps, shape.bias,
                   shape.out + image * out.strides[0] + y * out.strides[3] + x * out.strides[4],
                   channels);
             }
           });
}

// --- Transposed: a product makes what every input element adds to every tap; then they are added
// ---

void convolve_transposed(KernelContext& context, const Shape& shape) {
  const Layout& in = shape.input_layout;
  const Layout& out = shape.out_layout;
  const Layout& weight = shape.weight_layout;
  const int64_t taps = shape.taps();
  const int64_t places = shape.in[0] * shape.in[1] * shape.in[2];
  const int64_t rows = shape.group_rows * taps;
  auto* const parts = static_cast<float*>(
      context.allocate_temp(static_cast<size_t>(rows * places) * sizeof(float)));
  if (parts == nullptr) return;
  for (int64_t image = 0; image < out.sizes[0]; ++image) {
    for (int64_t group = 0; group < shape.window.groups; ++group) {
      const FloatMatrix filters{shape.weight + group * shape.group_channels * weight.strides[0],
                                rows, shape.group_channels, 1, weight.strides[0]};
      const FloatMatrix pixels{
          shape.input + image * in.strides[0] + group * shape.group_channels * in.strides[1],
          shape.group_channels, places, in.strides[1], in.strides[4]};
      multiply(context, filters, pixels, parts);
      if (context.failed()) return;
      parallel(context, shape.group_rows, rows * places, [&](int64_t row, int64_t) {
        const int64_t channel = group * shape.group_rows + row;
        float* const plane = shape.out + image * out.strides[0] + channel * out.strides[1];
        const float bias = shape.bias == nullptr ? 0.0F : shape.bias[channel];
        Place at;
        for (at[0] = 0; at[0] < shape.output[0]; ++at[0]) {
          for (at[1] = 0; at[1] < shape.output[1]; ++at[1]) {
            float* const line = plane + at[0] * out.strides[2] + at[1] * out.strides[3];
            for (int64_t x = 0; x < shape.output[2]; ++x) line[x * out.strides[4]] = bias;
          }
        }
        const float* from = parts + row * taps * places;
        Place tap;
        for (tap[0] = 0; tap[0] < shape.kernel[0]; ++tap[0]) {
          for (tap[1] = 0; tap[1] < shape.kernel[1]; ++tap[1]) {
            for (tap[2] = 0; tap[2] < shape.kernel[2]; ++tap[2]) {
              const auto target = [&](size_t dim, int64_t source) {
                return source * shape.window.stride[dim] - shape.window.padding[dim] +
                       tap[dim] * shape.window.dilation[dim];
              };
              for (int64_t z = 0; z < shape.in[0]; ++z) {
                for (int64_t y = 0; y < shape.in[1]; ++y, from += shape.in[2]) {
                  const int64_t to_z = target(0, z);
                  const int64_t to_y = target(1, y);
                  if (to_z < 0 || to_z >= shape.output[0] || to_y < 0 || to_y >= shape.output[1]) {
                    continue;
                  }
                  float* const line = plane + to_z * out.strides[2] + to_y * out.strides[3];
                  for (int64_t x = 0; x < shape.in[2]; ++x) {
                    const int64_t to_x = target(2, x);
                    if (to_x >= 0 && to_x < shape.output[2]) line[to_x * out.strides[4]] += from[x];
                  }
                }
              }
            }
          }
        }
      });
    }
  }
}

bool transposed_fits(const Shape& shape) {
  const Layout& weight = shape.weight_layout;
  return is_plane(shape.input_layout) && is_plane(weight) &&
         (shape.taps() == 1 || weight.strides[4] == 1) &&
         (shape.group_rows == 1 || weight.strides[1] == shape.taps());
}

// False: another kernel's business.
bool convolve_floats(KernelContext& context, const Convolution& convolution) {
  const Shape shape = make_shape(convolution);
  if (shape.window.transposed) {
    if (!transposed_fits(shape)) return false;
    convolve_transposed(context, shape);
    return true;
  }
  const auto side_by_side = [](const Layout& layout) { return layout.strides[1] == 1; };
  const auto in_lines = [](const Layout& layout) {
    return layout.strides[4] == 1 || layout.sizes[4] == 1;
  };
  if (is_depthwise(shape)) {
    if (in_lines(shape.input_layout) && in_lines(shape.out_layout)) {
      convolve_planes(context, shape);
      return true;
    }
    if (shape.group_rows == 1 && side_by_side(shape.input_layout) &&
        side_by_side(shape.out_layout)) {
      convolve_pixels(context, shape);
      return true;
    }
  }
  multiply_images(context, shape);
  return true;
}

}  // namespace

void convolve(KernelContext& context, const Convolution& convolution) {
  if (convolution.out.numel() == 0 || convolution.input.numel() == 0) {
    return vitrine::convolve(context, convolution);
  }
  const ScalarType dtype = convolution.out.dtype();
  if (dtype == ScalarType::kFloat) {
    if (!convolve_floats(context, convolution)) vitrine::convolve(context, convolution);
    return;
  }
  if (!is_reduced_float(dtype)) return vitrine::convolve(context, convolution);

  FloatCopy input;
  FloatCopy weight;
  FloatCopy bias;
  FloatCopy out;
  if (!FloatCopy::make(context, convolution.input, input) ||
      !FloatCopy::make(context, convolution.weight, weight) ||
      !FloatCopy::make(context, convolution.out, out)) {
    return;
  }
  input.read(context, convolution.input);
  weight.read(context, convolution.weight);
  if (convolution.bias != nullptr) {
    if (!FloatCopy::make(context, *convolution.bias, bias)) return;
    bias.read(context, *convolution.bias);
  }
  const Convolution floats{input.tensor(), weight.tensor(),
                           convolution.bias == nullptr ? nullptr : &bias.tensor(),
                           convolution.window, out.tensor()};
  if (!convolve_floats(context, floats)) return vitrine::convolve(context, convolution);
  if (!context.failed()) out.write(context, convolution.out);
}

}  // namespace vitrine::optimized
