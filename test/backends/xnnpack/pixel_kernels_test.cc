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
  size_t count = 1;
  for (const uint32_t size : shape) count *= size;
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(pixel_value(i));
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
    ASSERT_EQ(out.size(), in.size());
    for (size_t i = 0; i < in.size(); ++i) {
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
    const uint32_t images = c.in[0], height = c.in[1], width = c.in[2], channels = c.in[3];
    const Shape out_shape{images, c.height, c.width, channels};
    PayloadBuilder b;
    const uint32_t x = b.input(c.in), y = b.output(out_shape);
    b.resize(c.height, c.width, x, y);
    const std::vector<float> in = pixels_of(c.in);
    const std::vector<float> out =
        result(b, c.in, in, out_shape,
               c.is_ours ? if_wide("Vitrine Bilinear Resize (NHWC, F32)") : std::string_view());
    ASSERT_EQ(out.size(), size_t{images} * c.height * c.width * channels);
    // Maps pixel `i` of an output line of `to` pixels to a position in an input line of `from`
    // pixels.
    const auto position = [](uint32_t i, uint32_t from, uint32_t to) {
      return std::clamp((i + 0.5) * from / to - 0.5, 0.0, from - 1.0);
    };
    size_t i = 0;
    for (uint32_t image = 0; image < images; ++image) {
      for (uint32_t row = 0; row < c.height; ++row) {
        for (uint32_t column = 0; column < c.width; ++column) {
          for (uint32_t channel = 0; channel < channels; ++channel, ++i) {
            const double v = position(row, height, c.height);
            const double u = position(column, width, c.width);
            const auto top = static_cast<uint32_t>(v), left = static_cast<uint32_t>(u);
            const auto at = [&](uint32_t py, uint32_t px) {
              py = std::min(py, height - 1);
              px = std::min(px, width - 1);
              return double{in[((image * height + py) * width + px) * channels + channel]};
            };
            const double right = u - left, bottom = v - top;
            const double expected =
                (at(top, left) * (1 - right) + at(top, left + 1) * right) * (1 - bottom) +
                (at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right) * bottom;
            ASSERT_NEAR(out[i], expected, 1e-5) << "element " << i;
          }
        }
      }
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
  // Calls visit(value, is_inside) for each pixel of a window.
  template <class T, class Visit>
  void for_each(const std::vector<T>& values, const uint32_t (&at)[4], const Visit& visit) const {
    for (uint32_t ky = 0; ky < window.kernel_height; ++ky) {
      for (uint32_t kx = 0; kx < window.kernel_width; ++kx) {
        const int64_t y = int64_t{at[1]} * window.stride_height - window.top +
                          int64_t{ky} * window.dilation_height;
        const int64_t x = int64_t{at[2]} * window.stride_width - window.left +
                          int64_t{kx} * window.dilation_width;
        if (y < 0 || y >= in[1] || x < 0 || x >= in[2]) continue;
        visit(values[static_cast<size_t>(((at[0] * in[1] + y) * in[2] + x) * in[3] + at[3])]);
      }
    }
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
    for_each_element(c, out, [&](const uint32_t(&at)[4], T value) {
      T largest = std::numeric_limits<T>::lowest();
      c.for_each(in, at, [&](T pixel) { largest = std::max(largest, pixel); });
      ASSERT_EQ(value, largest);
    });
  }

  template <class T, class Visit>
  void for_each_element(const Pooling& c, const std::vector<T>& out, const Visit& visit) {
    const Shape shape = c.out();
    ASSERT_EQ(out.size(), size_t{shape[0]} * shape[1] * shape[2] * shape[3]);
    for (size_t i = 0; i < out.size() && !HasFatalFailure(); ++i) {
      const auto n = static_cast<uint32_t>(i);
      const uint32_t at[4] = {n / shape[3] / shape[2] / shape[1],
                              n / shape[3] / shape[2] % shape[1], n / shape[3] % shape[2],
                              n % shape[3]};
      visit(at, out[i]);
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
    for_each_element(c, out, [&](const uint32_t(&at)[4], float value) {
      double sum = 0;
      int count = 0;
      c.for_each(in, at, [&](float pixel) {
        sum += double{pixel};
        ++count;
      });
      ASSERT_NEAR(value, sum / count, 1e-6 * std::abs(sum / count));
    });
  }
}

struct ConvolutionOfLines {
  uint32_t in_channels, out_channels;
  WindowSpec window;
  Shape image;  // images, height, width
  bool is_ours = true;
  Bounds bounds = {};
};

// Windows of small integers have exact sums.
TEST_P(PixelKernelsTest, ConvolutionsWithFewInputChannelsMatchDirectSums) {
  const std::string_view kernel = if_wide("Vitrine Convolution of Window Lines (NHWC, F32)", 16);
  const WindowSpec stem = window_of(7, 7).padded(3).strided(2, 2);
  const WindowSpec line = window_of(1, 7).padded(0, 3, 0, 3);
  const WindowSpec tall = window_of(15, 1).padded(7, 0, 7, 0).strided(2, 1);
  const WindowSpec uneven = window_of(1, 5).padded(2, 4, 3, 1).strided(2, 3);
  const WindowSpec wide = window_of(1, 50).padded(0, 40, 0, 40);  // around the image
  const WindowSpec same = window_of(3, 3).padded(1);
  for (const ConvolutionOfLines& c :
       {ConvolutionOfLines{3, 64, stem, {2, 15, 22}, false},  // many lines
        {32, 40, line, {1, 1, 61}},
        {26, 17, uneven, {3, 6, 9}, true, {-100, 150}},
        {7, 100, wide, {1, 1, 3}},
        {19, 5, line, {1, 4, 2}},
        {18, 5, line, {1, 4, 2}, false},  // a short line
        {32, 33, tall, {2, 61, 1}},
        {9, 8, tall, {1, 30, 3}},
        {200, 8, line, {1, 1, 20}, false},  // a large window
        {4, 8, same, {1, 6, 6}, false}}) {  // Winograd's algorithm may run it
    SCOPED_TRACE(testing::PrintToString(std::vector{c.in_channels, c.out_channels}));
    const WindowSpec& w = c.window;
    const uint32_t height = w.result_height(c.image[1]), width = w.result_width(c.image[2]);
    const Shape in_shape{c.image[0], c.image[1], c.image[2], c.in_channels};
    const Shape out_shape{c.image[0], height, width, c.out_channels};
    const Shape weight_shape{c.out_channels, w.kernel_height, w.kernel_width, c.in_channels};
    const std::vector<float> in = pixels_of(in_shape), weights = pixels_of(weight_shape);
    const std::vector<float> biases = pixels_of({c.out_channels});
    PayloadBuilder b;
    const uint32_t x = b.input(in_shape), y = b.output(out_shape);
    WindowSpec window = w;
    window.group_in = c.in_channels;
    window.group_out = c.out_channels;
    b.convolution(Tag::XNNConv2d, window, x, b.constant<float>(weight_shape, weights),
                  b.constant<float>({c.out_channels}, biases), y, c.bounds);
    const std::vector<float> out =
        result(b, in_shape, in, out_shape, c.is_ours ? kernel : std::string_view());
    ASSERT_EQ(out.size(), size_t{c.image[0]} * height * width * c.out_channels);
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t output = i % c.out_channels, pixel = i / c.out_channels;
      const size_t column = pixel % width, row = pixel / width % height;
      const size_t image = pixel / width / height;
      float sum = biases[output];
      for (size_t tap = 0; tap < size_t{w.kernel_height} * w.kernel_width; ++tap) {
        const size_t py = row * w.stride_height + tap / w.kernel_width * w.dilation_height - w.top;
        const size_t px = column * w.stride_width + tap % w.kernel_width - w.left;
        if (py >= c.image[1] || px >= c.image[2]) continue;  // including those before the first
        for (size_t k = 0; k < c.in_channels; ++k) {
          sum += in[((image * c.image[1] + py) * c.image[2] + px) * c.in_channels + k] *
                 weights[(output * w.kernel_height * w.kernel_width + tap) * c.in_channels + k];
        }
      }
      ASSERT_EQ(out[i], std::clamp(sum, c.bounds.min, c.bounds.max)) << "element " << i;
    }
  }
}

struct FewOutputs {
  uint32_t in_channels, out_channels, kernel;
  bool is_ours = true;
  uint32_t images = 1;
  Bounds bounds = {};
};

TEST_P(PixelKernelsTest, ConvolutionsWithFewOutputsMatchDirectSums) {
  constexpr uint32_t kHeight = 5, kWidth = 7;  // the last block of pixels is not full
  // XNNPACK 92a7ad5 turns 1 x 1 convolutions into fully connected nodes, but XNNPACK 4ea82e5 does
  // not. Only XNNPACK 4ea82e5 has attention nodes, so they show which version this build uses.
  const bool has_1x1_convolutions = xnnpack::optional_nodes().attention;
  for (const FewOutputs& c : {FewOutputs{16, 3, 3},
                              {33, 1, 3},
                              {70, 2, 3},
                              {64, 4, 3},
                              {17, 3, 5, true, 2},
                              {32, 4, 3, true, 1, {-50, 60}},
                              {64, 1, 1, has_1x1_convolutions},
                              {70, 3, 1, has_1x1_convolutions, 3},
                              {3, 3, 1, false},
                              {64, 5, 1, false},
                              {4, 3, 3, false}}) {
    SCOPED_TRACE(testing::PrintToString(std::vector{c.in_channels, c.out_channels, c.kernel}));
    const uint32_t pad = c.kernel / 2;
    const Shape in_shape{c.images, kHeight, kWidth, c.in_channels};
    const Shape out_shape{c.images, kHeight, kWidth, c.out_channels};
    const Shape weight_shape{c.out_channels, c.kernel, c.kernel, c.in_channels};
    const std::vector<float> in = pixels_of(in_shape), weights = pixels_of(weight_shape);
    const std::vector<float> biases = pixels_of({c.out_channels});
    PayloadBuilder b;
    const uint32_t x = b.input(in_shape), y = b.output(out_shape);
    b.convolution(Tag::XNNConv2d,
                  window_of(c.kernel, c.kernel, c.in_channels, c.out_channels).padded(pad), x,
                  b.constant<float>(weight_shape, weights),
                  b.constant<float>({c.out_channels}, biases), y, c.bounds);
    const std::vector<float> out = result(
        b, in_shape, in, out_shape,
        !c.is_ours      ? std::string_view()
        : c.kernel == 1 ? if_wide("Vitrine Pointwise Convolution with Few Outputs (NHWC, F32)")
                        : if_wide("Vitrine Convolution with Few Outputs (NHWC, F32)"));
    ASSERT_EQ(out.size(), size_t{c.images} * kHeight * kWidth * c.out_channels);
    for (size_t i = 0; i < out.size(); ++i) {
      const size_t output = i % c.out_channels, pixel = i / c.out_channels;
      const size_t column = pixel % kWidth, row = pixel / kWidth % kHeight;
      const size_t image = pixel / kWidth / kHeight;
      float sum = biases[output];
      for (size_t tap = 0; tap < size_t{c.kernel} * c.kernel; ++tap) {
        const size_t py = row + tap / c.kernel - pad, px = column + tap % c.kernel - pad;
        if (py >= kHeight || px >= kWidth) continue;  // including those before the first
        for (size_t k = 0; k < c.in_channels; ++k) {
          sum += in[((image * kHeight + py) * kWidth + px) * c.in_channels + k] *
                 weights[(output * c.kernel * c.kernel + tap) * c.in_channels + k];
        }
      }
      ASSERT_EQ(out[i], std::clamp(sum, c.bounds.min, c.bounds.max)) << "element " << i;
    }
  }
}

}  // namespace
}  // namespace vitrine::test
