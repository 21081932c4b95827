// Compares Winograd's convolution with sums of products in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/optimized/simd/winograd.h"

namespace vitrine::optimized {
namespace {

using simd::WinogradImages;
using simd::WinogradShape;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct ConvolutionCase {
  int64_t images, height, width;
  int64_t in_channels, out_channels;
  int64_t top = 1, left = 1, bottom = 1, right = 1;
  float min = -kInfinity;
  float max = kInfinity;
  int64_t gap = 0;  // channels between the pixels of the input and of the result

  int64_t out_height() const { return height + top + bottom - 2; }
  int64_t out_width() const { return width + left + right - 2; }
  int64_t out_pixels() const { return images * out_height() * out_width(); }
  int64_t in_stride() const { return in_channels + gap; }
  int64_t out_stride() const { return out_channels + gap; }
};

// Each array ends with its last element, so that AddressSanitizer detects accesses past its end.
struct Operands {
  // Activations are normally distributed numbers after a ReLU, so half of them are zero. Weights
  // are scaled so that the results have the same variance as the activations.
  explicit Operands(const ConvolutionCase& c) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    in.resize(
        static_cast<size_t>((c.images * c.height * c.width - 1) * c.in_stride() + c.in_channels));
    for (float& value : in) value = std::max(normal(random), 0.0F);
    weights.resize(static_cast<size_t>(9 * c.in_channels * c.out_channels));
    const float scale = std::sqrt(2 / (9 * static_cast<float>(c.in_channels)));
    for (float& value : weights) value = normal(random) * scale;
    bias.resize(static_cast<size_t>(c.out_channels));
    for (float& value : bias) value = normal(random);
  }

  std::vector<float> in;
  std::vector<float> weights;  // tap, input channel, output channel
  std::vector<float> bias;
};

// Returns one element of the result, computed in T: starts with the bias, then adds the taps in
// order.
template <class T>
T sum_of_products(const ConvolutionCase& c, const Operands& operands, int64_t pixel,
                  int64_t channel) {
  const int64_t x = pixel % c.out_width();
  const int64_t y = pixel / c.out_width() % c.out_height();
  const int64_t image = pixel / c.out_width() / c.out_height();
  T sum = operands.bias[static_cast<size_t>(channel)];
  for (int64_t tap = 0; tap < 9; ++tap) {
    const int64_t in_y = y + tap / 3 - c.top;
    const int64_t in_x = x + tap % 3 - c.left;
    if (in_y < 0 || in_y >= c.height || in_x < 0 || in_x >= c.width) continue;
    const int64_t at = ((image * c.height + in_y) * c.width + in_x) * c.in_stride();
    for (int64_t k = 0; k < c.in_channels; ++k) {
      sum += T{operands.in[static_cast<size_t>(at + k)]} *
             T{operands.weights[static_cast<size_t>((tap * c.in_channels + k) * c.out_channels +
                                                    channel)]};
    }
  }
  return std::clamp(sum, T{c.min}, T{c.max});
}

std::vector<float> transformed(const WinogradShape& shape, const std::vector<float>& weights) {
  std::vector<float> filter(weights.size());
  size_t at = 0;
  for (int64_t o = 0; o < shape.out_channels; ++o) {
    for (int64_t i = 0; i < 9 * shape.in_channels; ++i) {
      filter[at++] = weights[static_cast<size_t>(i * shape.out_channels + o)];
    }
  }
  std::vector<float> result(static_cast<size_t>(simd::winograd_weights(shape)));
  for (int64_t p = 0; p < simd::winograd_panels(shape); ++p) {
    simd::winograd_transform(shape, p, filter.data(), result.data());
  }
  return result;
}

// Computes the convolution in parts. Each part has at most `part_tiles` tiles, and one panel (group
// of output channels).
std::vector<float> convolve(const ConvolutionCase& c, const Operands& operands, int64_t tile,
                            int64_t part_tiles) {
  const WinogradShape shape{tile, c.in_channels, c.out_channels};
  const std::vector<float> weights = transformed(shape, operands.weights);
  std::vector<float> out(
      static_cast<size_t>((c.out_pixels() - 1) * c.out_stride() + c.out_channels), -77.0F);
  const WinogradImages<float> images{.shape = shape,
                                     .weights = weights.data(),
                                     .bias = operands.bias.data(),
                                     .min = c.min,
                                     .max = c.max,
                                     .in = operands.in.data(),
                                     .in_stride = c.in_stride(),
                                     .height = c.height,
                                     .width = c.width,
                                     .top = c.top,
                                     .left = c.left,
                                     .out = out.data(),
                                     .out_stride = c.out_stride(),
                                     .out_height = c.out_height(),
                                     .out_width = c.out_width()};
  const int64_t tiles = c.images * images.tile_lines() * images.tile_columns();
  for (int64_t first = 0; first < tiles; first += part_tiles) {
    const int64_t count = std::min(part_tiles, tiles - first);
    // NaN in unused scratch memory must not reach a result.
    std::vector<float> scratch(static_cast<size_t>(simd::winograd_scratch(shape, count)),
                               std::numeric_limits<float>::quiet_NaN());
    for (int64_t p = 0; p < simd::winograd_panels(shape); ++p) {
      simd::winograd_convolve(images, {first, count, p, 1}, scratch.data());
    }
  }
  return out;
}

const ConvolutionCase kCases[] = {
    {1, 8, 8, 16, 16},
    {1, 1, 1, 3, 5},
    {1, 2, 1, 1, 1, 2, 1, 1, 2},
    {1, 7, 9, 5, 17},
    {2, 13, 6, 20, 35},
    {3, 5, 5, 33, 100},
    {1, 11, 10, 8, 64, 0, 0, 0, 0},
    {1, 10, 12, 16, 24, 2, 0, 1, 2},
    {1, 9, 9, 19, 50, 1, 1, 1, 1, 0, 1},
    {2, 6, 7, 12, 20, 1, 1, 1, 1, -0.5F, kInfinity, 7},
};

TEST(Winograd, MatchesSumsOfProductsForAnySize) {
  for (const ConvolutionCase& c : kCases) {
    const Operands operands(c);
    for (const int64_t tile : {2, 4}) {
      for (const int64_t part_tiles : {1, 5, 16}) {
        SCOPED_TRACE(testing::Message() << c.height << " x " << c.width << ", " << c.in_channels
                                        << " to " << c.out_channels << " channels, tile " << tile
                                        << ", parts of " << part_tiles);
        const std::vector<float> out = convolve(c, operands, tile, part_tiles);
        for (int64_t pixel = 0; pixel < c.out_pixels(); ++pixel) {
          for (int64_t i = 0; i < c.out_channels; ++i) {
            ASSERT_NEAR(out[static_cast<size_t>(pixel * c.out_stride() + i)],
                        sum_of_products<double>(c, operands, pixel, i), 1e-5)
                << "pixel " << pixel << ", channel " << i;
          }
          for (int64_t i = c.out_channels; i < c.out_stride() && pixel + 1 < c.out_pixels(); ++i) {
            ASSERT_EQ(out[static_cast<size_t>(pixel * c.out_stride() + i)], -77.0F);
          }
        }
      }
    }
  }
}

// Measures the errors of Winograd's convolution and of float sums of products against sums in
// double.
TEST(Winograd, HasAtMostFourTimesTheErrorOfSumsOfProducts) {
  for (const int64_t channels : {16, 64, 256}) {
    const ConvolutionCase c{1, 12, 12, channels, 16};
    const Operands operands(c);
    double squared = 0;
    double largest = 0;
    for (int64_t i = 0; i < c.out_pixels() * c.out_channels; ++i) {
      const int64_t pixel = i / c.out_channels;
      const int64_t channel = i % c.out_channels;
      const double error = sum_of_products<float>(c, operands, pixel, channel) -
                           sum_of_products<double>(c, operands, pixel, channel);
      squared += error * error;
      largest = std::max(largest, std::abs(error));
    }
    for (const int64_t tile : {2, 4}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, tile " << tile);
      const std::vector<float> out = convolve(c, operands, tile, 16);
      double own_squared = 0;
      double own_largest = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const double error =
            out[i] - sum_of_products<double>(c, operands, at / c.out_channels, at % c.out_channels);
        own_squared += error * error;
        own_largest = std::max(own_largest, std::abs(error));
      }
      EXPECT_LE(std::sqrt(own_squared), 4 * std::sqrt(squared));
      EXPECT_LE(own_largest, 4 * largest);
      RecordProperty("ratio_" + std::to_string(channels) + "_" + std::to_string(tile),
                     std::to_string(std::sqrt(own_squared / squared)) + " rms, " +
                         std::to_string(own_largest / largest) + " largest");
    }
  }
}

TEST(Winograd, KeepsNaN) {
  const ConvolutionCase c{1, 6, 6, 16, 16, 1, 1, 1, 1, 0, 6};
  Operands operands(c);
  operands.in[static_cast<size_t>((2 * c.width + 2) * c.in_channels)] =
      std::numeric_limits<float>::quiet_NaN();
  for (const int64_t tile : {2, 4}) {
    const std::vector<float> out = convolve(c, operands, tile, 16);
    EXPECT_TRUE(std::isnan(out[static_cast<size_t>((2 * c.out_width() + 2) * c.out_channels)]));
  }
}

}  // namespace
}  // namespace vitrine::optimized
