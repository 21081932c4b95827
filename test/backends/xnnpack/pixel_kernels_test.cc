// Tests delegated operators that compute all channels of one pixel together. Compares their results
// with formulas.
#include <algorithm>
#include <cmath>

#include "backends/xnnpack/runtime/reader/node_definition.h"
#include "kernels/optimized/simd/gemm.h"
#include "test/backends/xnnpack/own_kernels_fixture.h"

namespace vitrine::test {
namespace {

// Returns `kernel` if Vitrine's kernel runs, which needs vectors of at least `min_lanes` floats.
// Returns an empty string if XNNPACK's kernel runs.
std::string_view if_wide(std::string_view kernel, int64_t min_lanes = 8) {
  return optimized::simd::gemm_shape().lanes >= min_lanes ? kernel : "";
}

float pixel_value(size_t i) { return static_cast<float>(i * 7 % 23) - 11; }

template <class T = float>
std::vector<T> pixels_of(const Shape& shape) {
  std::vector<T> values(count_of(shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(pixel_value(i));
  return values;
}

class PixelKernelsTest : public OwnKernelsFixture {};
INSTANTIATE_TEST_SUITE_P(WithAndWithout, PixelKernelsTest, testing::Bool());

TEST_P(PixelKernelsTest, BatchNormScalesAndShiftsEachChannel) {
  const std::string_view kernel = if_wide("Vitrine Batch Norm (NHWC, F32)");
  struct Case {
    Shape shape;
    std::string_view kernel;
    Bounds bounds = {};
  };
  for (const Case& c : {Case{{1, 3, 5, 16}, kernel},
                        {{2, 3, 3, 17}, kernel},
                        {{1, 1, 1, 100}, kernel, {-20, 30}},
                        {{1, 4, 4, 3}, ""}}) {
    SCOPED_TRACE(testing::PrintToString(c.shape));
    const uint32_t channels = c.shape[3];
    PayloadBuilder b;
    const uint32_t x = b.input(c.shape), y = b.output(c.shape);
    std::vector<float> scales(channels), biases(channels);
    for (uint32_t i = 0; i < channels; ++i) {
      scales[i] = static_cast<float>(i % 7) - 3;
      biases[i] = static_cast<float>(i % 5) - 2;
    }
    b.convolution(Tag::XNNDepthwiseConv2d, {.groups = channels}, x,
                  b.constant<float>({1, 1, 1, channels}, scales),
                  b.constant<float>({channels}, biases), y, c.bounds);
    const std::vector<float> in = pixels_of(c.shape);
    const std::vector<float> out = result(b, c.shape, in, c.shape, c.kernel);
    for (size_t i = 0; i < out.size(); ++i) {
      const float value = in[i] * scales[i % channels] + biases[i % channels];
      ASSERT_EQ(out[i], std::clamp(value, c.bounds.min, c.bounds.max)) << "element " << i;
    }
  }
}

TEST_P(PixelKernelsTest, BatchNormKeepsNans) {
  const std::string_view kernel = if_wide("Vitrine Batch Norm (NHWC, F32)");
  if (!GetParam() || kernel.empty() || !xnnpack::OwnKernels::have(kernel)) {
    GTEST_SKIP() << "XNNPACK's kernel may return the lower bound";
  }
  PayloadBuilder b;
  const Shape shape{1, 1, 1, 20};
  const uint32_t x = b.input(shape), y = b.output(shape);
  b.convolution(Tag::XNNDepthwiseConv2d, {.groups = 20}, x,
                b.constant<float>({1, 1, 1, 20}, std::vector<float>(20, 1)),
                b.constant<float>({20}, std::vector<float>(20, 1)), y, Bounds{0, 6});
  const std::vector<float> in(20, std::nanf(""));
  for (const float value : result(b, shape, in, shape, kernel)) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST_P(PixelKernelsTest, BilinearResizeInterpolatesFourPixels) {
  struct Case {
    Shape in;
    uint32_t height, width;
    bool is_ours;
  };
  for (const Case& c : {Case{{1, 4, 5, 48}, 8, 10, true},
                        {{2, 3, 4, 61}, 7, 6, true},
                        {{1, 9, 8, 64}, 4, 3, true},
                        {{1, 5, 5, 3}, 10, 10, false}}) {
    SCOPED_TRACE(testing::PrintToString(c.in));
    const uint32_t height = c.in[1], width = c.in[2];
    const Shape out_shape{c.in[0], c.height, c.width, c.in[3]};
    PayloadBuilder b;
    const uint32_t x = b.input(c.in), y = b.output(out_shape);
    b.resize(c.height, c.width, x, y);
    const std::vector<float> in = pixels_of(c.in);
    const std::vector<float> out =
        result(b, c.in, in, out_shape,
               c.is_ours ? if_wide("Vitrine Bilinear Resize (NHWC, F32)") : std::string_view());
    // Maps pixel `i` of an output line of `to` pixels to a position in an input line of `from`
    // pixels.
    const auto position = [](size_t i, uint32_t from, uint32_t to) {
      return std::clamp((static_cast<double>(i) + 0.5) * from / to - 0.5, 0.0, from - 1.0);
    };
    for (size_t i = 0; i < out.size(); ++i) {
      const ImagePosition p = position_in(out_shape, i);
      const double v = position(p.y, height, c.height), u = position(p.x, width, c.width);
      const auto top = static_cast<uint32_t>(v), left = static_cast<uint32_t>(u);
      const auto at = [&](uint32_t row, uint32_t column) {
        row = std::min(row, height - 1);
        column = std::min(column, width - 1);
        return double{in[((p.image * height + row) * width + column) * c.in[3] + p.channel]};
      };
      const double right = u - left, bottom = v - top;
      const double expected =
          (at(top, left) * (1 - right) + at(top, left + 1) * right) * (1 - bottom) +
          (at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right) * bottom;
      ASSERT_NEAR(out[i], expected, 1e-5) << "element " << i;
    }
  }
}

struct Pooling {
  const char* name;
  Shape in;
  WindowSpec window;
  bool is_ours = true;

  // Returns `kernel` if Vitrine's kernel runs, or an empty string if XNNPACK's kernel runs.
  template <class T>
  std::string_view if_ours(std::string_view kernel) const {
    if (!is_ours) return "";
    const bool needs_avx512 =
        window.kernel_height * window.kernel_width > 9 || !std::is_same_v<T, float>;
    return if_wide(kernel, needs_avx512 ? 16 : 8);
  }
  // Returns the values of the pixels in the window of result element `i`.
  template <class T>
  std::vector<T> window_values(const std::vector<T>& values, size_t i) const {
    const ImagePosition at = position_in(out(), i);
    std::vector<T> found;
    window.for_each_pixel(in[1], in[2], at.y, at.x, [&](size_t pixel, size_t) {
      found.push_back(values[(at.image * in[1] * in[2] + pixel) * in[3] + at.channel]);
    });
    return found;
  }
  Shape out() const {
    return {in[0], window.result_height(in[1]), window.result_width(in[2]), in[3]};
  }
};

const WindowSpec kPairs = window_of(2, 2).strided(2, 2);
// The channels of all cases but the last fill at least two vectors of each dtype. Some cases also
// need a partial vector.
const Pooling kPoolings[] = {
    {"Pairs", {1, 6, 8, 128}, kPairs},
    {"PairsOfManyImages", {3, 4, 4, 150}, kPairs},
    {"PaddedThrees", {2, 7, 6, 130}, window_of(3, 3).padded(1).strided(2, 2)},
    {"PaddedFives", {1, 6, 5, 129}, window_of(5, 5).padded(2)},
    {"Uneven", {1, 9, 7, 128}, window_of(4, 3).padded(1, 1, 0, 0).strided(3, 2)},
    {"LargeWindow", {2, 7, 7, 128}, window_of(6, 6), false},
    {"WholeImage", {2, 5, 5, 128}, window_of(5, 5)},
    {"FewChannels", {1, 6, 6, 3}, kPairs, false},
};
const Pooling kDilatedPooling{"Dilated", {1, 9, 9, 140}, window_of(3, 2).dilated(2, 3)};

class PoolingTest : public PixelKernelsTest {
 protected:
  template <class T>
  void check_maxima(const Pooling& c, Type type, std::string_view kernel) {
    SCOPED_TRACE(c.name);
    PayloadBuilder b;
    const std::optional<PerTensor> quantization =
        std::is_same_v<T, float> ? std::optional<PerTensor>() : PerTensor{};
    const uint32_t x = b.input(c.in, type, quantization);
    const uint32_t y = b.output(c.out(), type, quantization);
    b.pooling(Tag::XNNMaxPooling2d, c.window, x, y);
    const std::vector<T> in = pixels_of<T>(c.in);
    const std::vector<T> out = result(b, c.in, in, c.out(), c.if_ours<T>(kernel));
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], std::ranges::max(c.window_values(in, i))) << "element " << i;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(WithAndWithout, PoolingTest, testing::Bool());

TEST_P(PoolingTest, MaximaEqualFormula) {
  for (const Pooling& c : kPoolings) {
    check_maxima<float>(c, Type::xnn_datatype_fp32, "Vitrine Max Pooling (NHWC, F32)");
    check_maxima<int8_t>(c, Type::xnn_datatype_qint8, "Vitrine Max Pooling (NHWC, S8)");
  }
  check_maxima<float>(kDilatedPooling, Type::xnn_datatype_fp32, "Vitrine Max Pooling (NHWC, F32)");
  check_maxima<int8_t>(kDilatedPooling, Type::xnn_datatype_qint8, "Vitrine Max Pooling (NHWC, S8)");
}

TEST_P(PoolingTest, AveragesMatchFormulaWithoutPadding) {
  for (const Pooling& c : kPoolings) {
    SCOPED_TRACE(c.name);
    PayloadBuilder b;
    const uint32_t x = b.input(c.in), y = b.output(c.out());
    b.pooling(Tag::XNNAvgPooling2d, c.window, x, y);
    const std::vector<float> in = pixels_of(c.in);
    const std::vector<float> out =
        result(b, c.in, in, c.out(), c.if_ours<float>("Vitrine Average Pooling (NHWC, F32)"));
    for (size_t i = 0; i < out.size(); ++i) {
      const std::vector<float> values = c.window_values(in, i);
      const double sum = std::accumulate(values.begin(), values.end(), 0.0);
      const double mean = sum / static_cast<double>(values.size());
      ASSERT_NEAR(out[i], mean, 1e-6 * std::abs(mean)) << "element " << i;
    }
  }
}

// A convolution of images of small integers, so that sums are exact.
struct WindowSums {
  Shape in;
  uint32_t out_channels;
  WindowSpec window;
  bool is_ours = true;
  Bounds bounds = {};
};

class WindowSumsTest : public PixelKernelsTest {
 protected:
  // `kernel` is Vitrine's kernel, or empty if XNNPACK's kernel runs.
  void check(const WindowSums& c, std::string_view kernel) {
    WindowSpec w = c.window;
    w.group_in = c.in[3];
    w.group_out = c.out_channels;
    SCOPED_TRACE(testing::PrintToString(std::vector{w.group_in, w.group_out, w.kernel_height}));
    const Shape out_shape{c.in[0], w.result_height(c.in[1]), w.result_width(c.in[2]), w.group_out};
    const Shape weight_shape{w.group_out, w.kernel_height, w.kernel_width, w.group_in};
    const std::vector<float> in = pixels_of(c.in), weights = pixels_of(weight_shape);
    const std::vector<float> biases = pixels_of({w.group_out});
    PayloadBuilder b;
    const uint32_t x = b.input(c.in), y = b.output(out_shape);
    b.convolution(Tag::XNNConv2d, w, x, b.constant<float>(weight_shape, weights),
                  b.constant<float>({w.group_out}, biases), y, c.bounds);
    const std::vector<float> out = result(b, c.in, in, out_shape, c.is_ours ? kernel : "");
    const size_t taps = size_t{w.kernel_height} * w.kernel_width;
    for (size_t i = 0; i < out.size(); ++i) {
      const ImagePosition at = position_in(out_shape, i);
      float sum = biases[at.channel];
      w.for_each_pixel(c.in[1], c.in[2], at.y, at.x, [&](size_t pixel, size_t tap) {
        const float* const from = &in[(at.image * c.in[1] * c.in[2] + pixel) * w.group_in];
        const float* const weight = &weights[(at.channel * taps + tap) * w.group_in];
        for (size_t k = 0; k < w.group_in; ++k) sum += from[k] * weight[k];
      });
      ASSERT_EQ(out[i], std::clamp(sum, c.bounds.min, c.bounds.max)) << "element " << i;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(WithAndWithout, WindowSumsTest, testing::Bool());

TEST_P(WindowSumsTest, ConvolutionsWithFewInputChannelsMatchDirectSums) {
  const std::string_view kernel = if_wide("Vitrine Convolution of Window Lines (NHWC, F32)", 16);
  const WindowSpec stem = window_of(7, 7).padded(3).strided(2, 2);
  const WindowSpec line = window_of(1, 7).padded(0, 3, 0, 3);
  const WindowSpec tall = window_of(15, 1).padded(7, 0, 7, 0).strided(2, 1);
  const WindowSpec uneven = window_of(1, 5).padded(2, 4, 3, 1).strided(2, 3);
  const WindowSpec wide = window_of(1, 50).padded(0, 40, 0, 40);  // around the image
  const WindowSpec same = window_of(3, 3).padded(1);
  for (const WindowSums& c : {WindowSums{{2, 15, 22, 3}, 64, stem, false},  // many lines
                              {{1, 1, 61, 32}, 40, line},
                              {{3, 6, 9, 26}, 17, uneven, true, {-100, 150}},
                              {{1, 1, 3, 7}, 100, wide},
                              {{1, 4, 2, 19}, 5, line},
                              {{1, 4, 2, 18}, 5, line, false},  // a short line
                              {{2, 61, 1, 32}, 33, tall},
                              {{1, 30, 3, 9}, 8, tall},
                              {{1, 1, 20, 200}, 8, line, false},  // a large window
                              {{1, 6, 6, 4}, 8, same, false}}) {  // Winograd's algorithm may run it
    check(c, kernel);
  }
}

// The images have 35 pixels, so the last block of pixels is not full.
TEST_P(WindowSumsTest, ConvolutionsWithFewOutputsMatchDirectSums) {
  const WindowSpec pixel = window_of(1, 1);
  const WindowSpec threes = window_of(3, 3).padded(1), fives = window_of(5, 5).padded(2);
  // XNNPACK 92a7ad5 turns 1 x 1 convolutions into fully connected nodes, but XNNPACK 4ea82e5 does
  // not. Only XNNPACK 4ea82e5 has attention nodes, so they show which version this build uses.
  const bool has_1x1_convolutions = xnnpack::optional_nodes().attention;
  for (const WindowSums& c : {WindowSums{{1, 5, 7, 16}, 3, threes},
                              {{1, 5, 7, 33}, 1, threes},
                              {{1, 5, 7, 70}, 2, threes},
                              {{1, 5, 7, 64}, 4, threes},
                              {{2, 5, 7, 17}, 3, fives},
                              {{1, 5, 7, 32}, 4, threes, true, {-50, 60}},
                              {{1, 5, 7, 64}, 1, pixel, has_1x1_convolutions},
                              {{3, 5, 7, 70}, 3, pixel, has_1x1_convolutions},
                              {{1, 5, 7, 3}, 3, pixel, false},
                              {{1, 5, 7, 64}, 5, pixel, false},
                              {{1, 5, 7, 4}, 3, threes, false}}) {
    check(c, c.window.kernel_height == 1
                 ? if_wide("Vitrine Pointwise Convolution with Few Outputs (NHWC, F32)")
                 : if_wide("Vitrine Convolution with Few Outputs (NHWC, F32)"));
  }
}

}  // namespace
}  // namespace vitrine::test
