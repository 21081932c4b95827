// Tests softmax of lines of 1 to 140 elements, sums of lines, and pooling with lines of 1 to 70
// windows. Some of these lengths are multiples of the vector length, and others are not. The
// input's memory ends with its last element, so that AddressSanitizer finds reads past the end.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/optimized/simd/lines.h"
#include "kernels/optimized/simd/pooling.h"

namespace vitrine::optimized {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Returns values from -8 to 8, and -infinity for some elements.
std::vector<float> made_values(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = i % 11 == 7 ? -kInfinity : static_cast<float>(i * 37 % 65) / 4 - 8;
  }
  return values;
}

TEST(SimdSoftmax, MatchesFormulaAtEveryLength) {
  constexpr size_t kLines = 3;
  for (size_t length = 1; length <= 140; ++length) {
    SCOPED_TRACE(length);
    const std::vector<float> in = made_values(kLines * length);
    std::vector<float> out(in.size());
    std::vector<float> logarithms(in.size());
    simd::softmax(in.data(), out.data(), kLines, static_cast<int64_t>(length));
    simd::log_softmax(in.data(), logarithms.data(), kLines, static_cast<int64_t>(length));
    for (size_t line = 0; line < kLines; ++line) {
      const auto first = in.begin() + static_cast<ptrdiff_t>(line * length);
      const double sum = std::accumulate(
          first, first + static_cast<ptrdiff_t>(length), 0.0,
          [](double all, float x) { return all + std::exp(static_cast<double>(x)); });
      if (sum == 0) continue;  // the line consists of -infinity only
      for (size_t i = line * length; i < (line + 1) * length; ++i) {
        const double expected = std::exp(static_cast<double>(in[i])) / sum;
        ASSERT_NEAR(out[i], expected, 1e-6 * expected) << i;
        if (in[i] == -kInfinity) continue;
        ASSERT_NEAR(logarithms[i], std::log(expected), 2e-5) << i;
      }
    }
  }
}

TEST(SimdSoftmax, ReturnsNanIfNoElementIsFinite) {
  for (const float value : {-kInfinity, kInfinity, std::nanf("")}) {
    for (const int64_t length : {1, 9, 40, 100}) {
      std::vector<float> line(static_cast<size_t>(length), -kInfinity);
      line.back() = value;
      simd::softmax(line.data(), line.data(), 1, length);
      EXPECT_TRUE(std::isnan(line.back())) << value << ", " << length;
    }
  }
}

// Sums of these integers are exact in float.
TEST(SimdSums, DividesSumsOfLinesOfAnyLength) {
  for (const size_t length : {1, 2, 3, 9, 15, 16, 17, 40, 64, 65, 139, 4096, 4097}) {
    for (const size_t lines : {1, 3, 4, 9}) {
      std::vector<float> in(lines * length);
      for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 37 % 65) - 20;
      std::vector<float> out(lines);
      simd::sums(in.data(), static_cast<int64_t>(lines), static_cast<int64_t>(length), 8,
                 out.data());
      for (size_t line = 0; line < lines; ++line) {
        const auto first = in.begin() + static_cast<ptrdiff_t>(line * length);
        const float sum = std::accumulate(first, first + static_cast<ptrdiff_t>(length), 0.0F);
        ASSERT_EQ(out[line], sum / 8) << length << ", line " << line << " of " << lines;
      }
    }
  }
}

struct Case {
  int64_t count;
  int64_t stride;
  int64_t taps;
  int64_t tap_step;
};

// Compares max, sum and average pooling with their formulas. The first line of windows covers rows
// 0 and 1 of the image, and the second line covers rows 1 and 2. The image is just large enough for
// all windows. The expected indices are positions in a plane whose rows have `row` + 1 elements.
void expect_formula(const Case& c) {
  constexpr int64_t kLines = 2;
  const int64_t row = (c.count - 1) * c.stride + (c.taps - 1) * c.tap_step + 1;
  std::vector<float> image = made_values(static_cast<size_t>(3 * row));
  image[image.size() / 2] = std::nanf("");
  const simd::Windows windows{image.data(), c.stride, 2, row, c.taps, c.tap_step, kLines, row};
  const auto size = static_cast<size_t>(kLines * c.count);
  std::vector<float> largest(size);
  std::vector<int64_t> indices(size);
  std::vector<float> sums(size), divisors(size), averages(size);
  for (size_t i = 0; i < size; ++i) divisors[i] = static_cast<float>(i + 2);
  simd::largest_of_windows(windows, {1000, row + 1, row + 1}, c.count, largest.data(),
                           indices.data());
  simd::sums_of_windows(windows, c.count, nullptr, sums.data());
  simd::sums_of_windows(windows, c.count, divisors.data(), averages.data());
  for (size_t i = 0; i < size; ++i) {
    const int64_t line = static_cast<int64_t>(i) / c.count;
    const int64_t column = static_cast<int64_t>(i) % c.count * c.stride;
    float best = -kInfinity;
    float sum = 0;
    int64_t index = line * (row + 1) + column;
    for (int64_t tap = 0; tap < 2 * c.taps; ++tap) {
      const int64_t y = line + tap / c.taps;
      const int64_t at = column + tap % c.taps * c.tap_step;
      const float x = image[static_cast<size_t>(y * row + at)];
      sum += x;
      if (!(x > best) && !std::isnan(x)) continue;
      best = x;
      index = y * (row + 1) + at;
    }
    ASSERT_TRUE(largest[i] == best || (std::isnan(best) && std::isnan(largest[i]))) << i;
    ASSERT_EQ(indices[i], 1000 + index) << i;
    ASSERT_TRUE(sums[i] == sum || (std::isnan(sum) && std::isnan(sums[i]))) << i;
    const float average = sum / divisors[i];
    ASSERT_TRUE(averages[i] == average || (std::isnan(sum) && std::isnan(averages[i]))) << i;
  }
}

TEST(SimdPooling, MatchesFormulaAtEveryLength) {
  for (int64_t count = 1; count <= 70; ++count) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int64_t taps : {1, 2, 3}) {
        for (const int64_t tap_step : {1, 2}) {
          SCOPED_TRACE(testing::Message()
                       << count << " by " << stride << ", " << taps << " taps by " << tap_step);
          expect_formula({count, stride, taps, tap_step});
        }
      }
    }
  }
}

}  // namespace
}  // namespace vitrine::optimized
