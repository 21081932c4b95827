#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

// The input elements that contribute to one element of the result. Each pair is the index of an
// element along a dim, and its weight.
using Weights = std::vector<std::pair<int64_t, double>>;
// Returns the weights for element `at` when a dim of size `from` is resized to size `to`.
using Filter = std::function<Weights(int64_t at, int64_t from, int64_t to)>;

// Returns the position in the input that corresponds to element `at` of the result.
double source_position(int64_t at, int64_t from, int64_t to, bool align_corners) {
  const auto size = static_cast<double>(from);
  if (align_corners) {
    return to > 1 ? static_cast<double>(at) * (size - 1) / static_cast<double>(to - 1) : 0;
  }
  return (static_cast<double>(at) + 0.5) * size / static_cast<double>(to) - 0.5;
}
Filter linear(bool align_corners) {
  return [=](int64_t at, int64_t from, int64_t to) {
    const double position = std::max(source_position(at, from, to, align_corners), 0.0);
    const auto below = static_cast<int64_t>(position);
    const double fraction = position - static_cast<double>(below);
    return Weights{{below, 1 - fraction}, {std::min(below + 1, from - 1), fraction}};
  };
}
// Returns the value of Keys' cubic convolution kernel (a = -0.75) at this distance from its center.
double keys_kernel(double distance) {
  constexpr double kA = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return (kA + 2) * x * x * x - (kA + 3) * x * x + 1;
  if (x < 2) return kA * (x * x * x - 5 * x * x + 8 * x - 4);
  return 0;
}
Filter cubic(bool align_corners) {
  return [=](int64_t at, int64_t from, int64_t to) {
    const double position = source_position(at, from, to, align_corners);
    const auto floor = static_cast<int64_t>(std::floor(position));
    Weights weights;
    for (int64_t i = floor - 1; i <= floor + 2; ++i) {
      weights.emplace_back(std::clamp<int64_t>(i, 0, from - 1),
                           keys_kernel(position - static_cast<double>(i)));
    }
    return weights;
  };
}
Weights nearest_center(int64_t at, int64_t from, int64_t to) {
  const double scaled = (static_cast<double>(at) + 0.5) * static_cast<double>(from);
  return {{static_cast<int64_t>(scaled / static_cast<double>(to)), 1}};
}
Weights nearest_corner(int64_t at, int64_t from, int64_t to) { return {{at * from / to, 1}}; }

// Resizes the last dims of `x` one after another.
Values resized(Values x, std::vector<int64_t> from, const std::vector<int64_t>& to,
               const Filter& filter) {
  for (size_t dim = 0; dim < from.size(); ++dim) {
    int64_t inner = 1;
    for (size_t i = dim + 1; i < from.size(); ++i) inner *= from[i];
    const int64_t outer = static_cast<int64_t>(x.size()) / (inner * from[dim]);
    Values next(static_cast<size_t>(outer * to[dim] * inner), 0);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t at = 0; at < to[dim]; ++at) {
        for (const auto& [index, weight] : filter(at, from[dim], to[dim])) {
          for (int64_t i = 0; i < inner; ++i) {
            next[static_cast<size_t>((o * to[dim] + at) * inner + i)] +=
                weight * x[static_cast<size_t>((o * from[dim] + index) * inner + i)];
          }
        }
      }
    }
    x = std::move(next);
    from[dim] = to[dim];
  }
  return x;
}

TEST(DecomposeResizing, SupportsPoolingAndResizingOfOneDim) {
  const std::vector<TensorData> x = {floats({1, 1, 6}, {1, 5, 2, 4, 3, 0})};
  expect_one("aten.max_pool1d.default", x, {Dims{2}, Dims{2}}, {5, 4, 3});
  expect_one("aten.avg_pool1d.default", x, {Dims{3}}, {8.0 / 3, 7.0 / 3});
  expect_one("aten.adaptive_avg_pool1d.default", x, {Dims{1}}, {2.5});
  expect_one("aten.adaptive_avg_pool1d.default", x, {Dims{2}}, {8.0 / 3, 7.0 / 3});
  expect_one("aten.upsample_nearest1d.vec", {floats({1, 1, 2}, {1, 3})}, {Dims{4}, Argument()},
             {1, 1, 3, 3});
  expect_one("aten.upsample_linear1d.vec", {floats({1, 1, 2}, {1, 3})}, {Dims{3}, true, Argument()},
             {1, 2, 3});
}

TEST(DecomposeResizing, ResizesImagesAndVolumes) {
  const TensorData image = seeded_weights("image", 3, {1, 2, 4, 5}, 1);
  const std::vector<int64_t> sizes = {7, 3};
  for (const bool corners : {false, true}) {
    SCOPED_TRACE(corners);
    expect_near(
        lowered("aten.upsample_bicubic2d.vec", {image}, {sizes, corners, Argument()}, {1, 2, 7, 3}),
        resized(values_of(image), {4, 5}, sizes, cubic(corners)), 1e-5);
  }
  expect_call("aten._upsample_nearest_exact2d.vec", {image}, {sizes, Argument()}, {1, 2, 7, 3},
              resized(values_of(image), {4, 5}, sizes, nearest_center));
  // These calls pass scale factors instead of sizes.
  const Argument factors = Argument::list({2.0, 2.0});
  expect_near(
      lowered("aten.upsample_bicubic2d.vec", {image}, {Argument(), false, factors}, {1, 2, 8, 10}),
      resized(values_of(image), {4, 5}, {8, 10}, cubic(false)), 1e-5);
  const TensorData volume = seeded_weights("volume", 3, {1, 2, 2, 3, 4}, 1);
  const std::vector<int64_t> larger = {3, 5, 6};
  for (const bool corners : {false, true}) {
    SCOPED_TRACE(corners);
    expect_near(lowered("aten.upsample_trilinear3d.vec", {volume}, {larger, corners, Argument()},
                        {1, 2, 3, 5, 6}),
                resized(values_of(volume), {2, 3, 4}, larger, linear(corners)), 1e-5);
  }
  expect_call("aten.upsample_nearest3d.vec", {volume}, {larger, Argument()}, {1, 2, 3, 5, 6},
              resized(values_of(volume), {2, 3, 4}, larger, nearest_corner));
}

// If a scale factor keeps or doubles the size of a small 2-D image, PyTorch ignores the factor. For
// 1-D and 3-D inputs, PyTorch uses the factor.
TEST(DecomposeResizing, NearestModeUsesTheScaleFactorExceptForSmallImages) {
  const auto scaled = [](std::vector<int64_t> sizes, const char* target, double factor,
                         std::vector<SymInt> larger) {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    Values values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
    ArgumentList rest = {Argument(), Argument::list(ArgumentList(sizes.size() - 2, factor))};
    if (std::string_view(target).find("linear") != std::string_view::npos) {
      rest.insert(rest.begin() + 1, false);
    }
    return values_of(lowered(target, {floats(sizes, values)}, rest, std::move(larger)));
  };
  EXPECT_EQ(scaled({1, 1, 1, 4}, "aten.upsample_nearest2d.vec", 1.2, {1, 1, 1, 4}),
            (Values{0, 1, 2, 3}));
  EXPECT_EQ(scaled({1, 1, 1, 4}, "aten.upsample_nearest2d.vec", 2.2, {1, 1, 2, 8}),
            (Values{0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(scaled({1, 1, 4}, "aten.upsample_nearest1d.vec", 1.2, {1, 1, 4}), (Values{0, 0, 1, 2}));
  EXPECT_EQ(scaled({1, 1, 1, 1, 4}, "aten.upsample_nearest3d.vec", 1.2, {1, 1, 1, 1, 4}),
            (Values{0, 0, 1, 2}));
  // Linear interpolation ignores the scale factor if the size stays the same.
  EXPECT_EQ(scaled({1, 1, 1, 1, 4}, "aten.upsample_trilinear3d.vec", 1.2, {1, 1, 1, 1, 4}),
            (Values{0, 1, 2, 3}));
  // For large 2-D images, nearest mode uses the scale factor even if the size stays the same.
  const Values wide = scaled({1, 1, 1, 130}, "aten.upsample_nearest2d.vec", 1.005, {1, 1, 1, 130});
  EXPECT_EQ(wide[1], 0);
  EXPECT_EQ(wide[129], 128);
}

TEST(DecomposeResizing, AffineGridAppliesItsMatrixToEachPoint) {
  const TensorData theta = floats({1, 2, 3}, {1, 0.5, 0.25, -1, 2, 0});
  const auto expected = [](bool corners) {
    Values grid;
    for (int64_t row = 0; row < 2; ++row) {
      for (int64_t column = 0; column < 3; ++column) {
        const double x = corners ? static_cast<double>(column) - 1
                                 : (2 * static_cast<double>(column) + 1) / 3 - 1;
        const double y =
            corners ? 2 * static_cast<double>(row) - 1 : (2 * static_cast<double>(row) + 1) / 2 - 1;
        grid.push_back(x + 0.5 * y + 0.25);
        grid.push_back(-x + 2 * y);
      }
    }
    return grid;
  };
  for (const bool corners : {false, true}) {
    expect_call("aten.affine_grid_generator.default", {theta}, {Dims{1, 1, 2, 3}, corners},
                {1, 2, 3, 2}, expected(corners));
  }
}

}  // namespace
}  // namespace vitrine::aot
