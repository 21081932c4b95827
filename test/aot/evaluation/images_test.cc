// Resizing, pools of volumes and patches, against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "aot/builder/seeded_weights.h"
#include "aot/passes/pipelines.h"
#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {
namespace {

// Weights of the elements of a dim that an element of the result is made of.
using Weights = std::vector<std::pair<int64_t, double>>;
using Filter = std::function<Weights(int64_t at, int64_t from, int64_t to)>;

double source(int64_t at, int64_t from, int64_t to, bool corners) {
  const auto whole = static_cast<double>(from);
  if (corners)
    return to > 1 ? static_cast<double>(at) * (whole - 1) / static_cast<double>(to - 1) : 0;
  return (static_cast<double>(at) + 0.5) * whole / static_cast<double>(to) - 0.5;
}
Filter linear(bool corners) {
  return [=](int64_t at, int64_t from, int64_t to) {
    const double place = std::max(source(at, from, to, corners), 0.0);
    const auto below = static_cast<int64_t>(place);
    const double part = place - static_cast<double>(below);
    return Weights{{below, 1 - part}, {std::min(below + 1, from - 1), part}};
  };
}
// Keys' kernel of a = -0.75, by distance.
double keys(double distance) {
  constexpr double kA = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return (kA + 2) * x * x * x - (kA + 3) * x * x + 1;
  if (x < 2) return kA * (x * x * x - 5 * x * x + 8 * x - 4);
  return 0;
}
Filter cubic(bool corners) {
  return [=](int64_t at, int64_t from, int64_t to) {
    const double place = source(at, from, to, corners);
    const auto floor = static_cast<int64_t>(std::floor(place));
    Weights weights;
    for (int64_t i = floor - 1; i <= floor + 2; ++i) {
      weights.emplace_back(std::clamp<int64_t>(i, 0, from - 1),
                           keys(place - static_cast<double>(i)));
    }
    return weights;
  };
}
Weights nearest_centre(int64_t at, int64_t from, int64_t to) {
  const double place = (static_cast<double>(at) + 0.5) * static_cast<double>(from);
  return {{static_cast<int64_t>(place / static_cast<double>(to)), 1}};
}
Weights nearest_corner(int64_t at, int64_t from, int64_t to) { return {{at * from / to, 1}}; }

// The last dims of `x` resized one after another.
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

TEST(DecomposedImages, Resizing) {
  const TensorData image = seeded_weights("image", 3, {1, 2, 4, 5}, 1);
  const std::vector<int64_t> sizes = {7, 3};
  for (const bool corners : {false, true}) {
    SCOPED_TRACE(corners);
    expect_near(
        lowered("aten.upsample_bicubic2d.vec", {image}, {sizes, corners, Argument()}, {1, 2, 7, 3}),
        resized(values_of(image), {4, 5}, sizes, cubic(corners)), 1e-5);
  }
  expect_near(
      lowered("aten._upsample_nearest_exact2d.vec", {image}, {sizes, Argument()}, {1, 2, 7, 3}),
      resized(values_of(image), {4, 5}, sizes, nearest_centre));
  // A factor tells the scale, also where the sizes do not come out even: 5 * 1.5 -> 7.
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
  expect_near(
      lowered("aten.upsample_nearest3d.vec", {volume}, {larger, Argument()}, {1, 2, 3, 5, 6}),
      resized(values_of(volume), {2, 3, 4}, larger, nearest_corner));
}

struct Box {
  std::array<int64_t, 3> kernel, stride, padding, dilation, size;
};

// Calls visit(result's index, elements inside, places in the padded input) for each window.
template <class Visit>
void each_window(const std::array<int64_t, 3>& in, const Box& box, Visit visit) {
  std::array<int64_t, 3> at = {};
  for (at[0] = 0; at[0] < box.size[0]; ++at[0]) {
    for (at[1] = 0; at[1] < box.size[1]; ++at[1]) {
      for (at[2] = 0; at[2] < box.size[2]; ++at[2]) {
        std::vector<size_t> inside;
        int64_t padded = 1;
        std::array<std::vector<int64_t>, 3> places;
        for (size_t d = 0; d < 3; ++d) {
          int64_t in_padding = 0;
          for (int64_t k = 0; k < box.kernel[d]; ++k) {
            const int64_t place = at[d] * box.stride[d] - box.padding[d] + k * box.dilation[d];
            if (place >= 0 && place < in[d]) places[d].push_back(place);
            if (place < in[d] + box.padding[d]) ++in_padding;
          }
          padded *= in_padding;
        }
        for (const int64_t z : places[0]) {
          for (const int64_t y : places[1]) {
            for (const int64_t x : places[2]) {
              inside.push_back(static_cast<size_t>((z * in[1] + y) * in[2] + x));
            }
          }
        }
        visit(inside, padded);
      }
    }
  }
}

std::vector<int64_t> list(const std::array<int64_t, 3>& values) {
  return {values.begin(), values.end()};
}

TEST(DecomposedImages, PoolsOfVolumes) {
  const TensorData x = seeded_weights("x", 5, {1, 1, 5, 6, 4}, 1);
  const Values numbers = values_of(x);
  const std::array<int64_t, 3> in = {5, 6, 4};
  const Box box = {{3, 2, 3}, {2, 2, 1}, {1, 0, 1}, {1, 2, 1}, {3, 2, 4}};
  Values greatest;
  each_window(in, box, [&](const std::vector<size_t>& inside, int64_t) {
    double most = -kInfinity;
    for (const size_t i : inside) most = std::max(most, numbers[i]);
    greatest.push_back(most);
  });
  expect_near(
      lowered("aten.max_pool3d.default", {x},
              {list(box.kernel), list(box.stride), list(box.padding), list(box.dilation), false},
              {1, 1, 3, 2, 4}),
      greatest);
  // Windows that reach over the end: (5 - 2 + 1) / 2 rounded up.
  const Box wide = {{2, 3, 2}, {2, 2, 2}, {0, 1, 1}, {1, 1, 1}, {3, 4, 3}};
  for (const int mode : {0, 1, 2}) {  // padding counts, it does not, a divisor of its own
    SCOPED_TRACE(mode);
    Values means;
    each_window(in, wide, [&](const std::vector<size_t>& inside, int64_t padded) {
      double sum = 0;
      for (const size_t i : inside) sum += numbers[i];
      means.push_back(sum / (mode == 0   ? static_cast<double>(padded)
                             : mode == 1 ? static_cast<double>(inside.size())
                                         : 7));
    });
    expect_near(lowered("aten.avg_pool3d.default", {x},
                        {list(wide.kernel), list(wide.stride), list(wide.padding), true, mode != 1,
                         mode == 2 ? Argument(7) : Argument()},
                        {1, 1, 3, 4, 3}),
                means);
  }
}

TEST(DecomposedImages, AdaptivePoolsOfVolumes) {
  const TensorData x = seeded_weights("x", 5, {1, 2, 5, 3, 4}, 1);
  const Values numbers = values_of(x);
  const std::array<int64_t, 3> in = {5, 3, 4};
  const std::array<int64_t, 3> out = {3, 2, 3};
  Values means;
  Values greatest;
  const auto begin = [&](size_t d, int64_t i) { return i * in[d] / out[d]; };
  const auto end = [&](size_t d, int64_t i) { return ((i + 1) * in[d] + out[d] - 1) / out[d]; };
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t a = 0; a < 3; ++a) {
      for (int64_t b = 0; b < 2; ++b) {
        for (int64_t e = 0; e < 3; ++e) {
          double sum = 0;
          double most = -kInfinity;
          double count = 0;
          for (int64_t z = begin(0, a); z < end(0, a); ++z) {
            for (int64_t y = begin(1, b); y < end(1, b); ++y) {
              for (int64_t w = begin(2, e); w < end(2, e); ++w) {
                const double value = numbers[static_cast<size_t>(((c * 5 + z) * 3 + y) * 4 + w)];
                sum += value;
                most = std::max(most, value);
                ++count;
              }
            }
          }
          means.push_back(sum / count);
          greatest.push_back(most);
        }
      }
    }
  }
  expect_near(
      lowered("aten.adaptive_avg_pool3d.default", {x}, ArgumentList{list(out)}, {1, 2, 3, 2, 3}),
      means);
  const Value::Items both = {contiguous_spec(ScalarType::kFloat, {1, 2, 3, 2, 3}),
                             contiguous_spec(ScalarType::kLong, {1, 2, 3, 2, 3})};
  expect_near(lowered_item(
                  "aten.adaptive_max_pool3d.default", {x},
                  [&](const std::vector<Node*>& nodes) {
                    return ArgumentList{nodes[0], list(out)};
                  },
                  both, 0),
              greatest);
  Values whole(2, 0);
  for (size_t i = 0; i < numbers.size(); ++i) whole[i / 60] += numbers[i] / 60;
  expect_near(lowered("aten.adaptive_avg_pool3d.default", {x},
                      ArgumentList{std::vector<int64_t>{1, 1, 1}}, {1, 2, 1, 1, 1}),
              whole);
}

TEST(DecomposedImages, Patches) {
  const TensorData x = seeded_weights("x", 7, {1, 2, 4, 5}, 1);
  const Values numbers = values_of(x);
  // Windows of 2 x 3, dilated by 2 and 1, padded by 1 and 0, in steps of 1 and 2.
  const std::array<std::vector<int64_t>, 4> windows = {{{2, 3}, {2, 1}, {1, 0}, {1, 2}}};
  const int64_t rows = 4;
  const int64_t columns = 2;
  Values patches;
  Values counts(numbers.size(), 0);
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t column = 0; column < columns; ++column) {
            const int64_t y = row - 1 + 2 * i;
            const int64_t z = 2 * column + j;
            const bool is_inside = y >= 0 && y < 4 && z < 5;
            const auto place = static_cast<size_t>((c * 4 + y) * 5 + z);
            patches.push_back(is_inside ? numbers[place] : 0);
            if (is_inside) counts[place] += 1;
          }
        }
      }
    }
  }
  const ArgumentList rest = {windows[0], windows[1], windows[2], windows[3]};
  const TensorData cut = lowered("aten.im2col.default", {x}, rest, {1, 12, 8});
  expect_near(cut, patches);
  // Put together again each element is there as often as it was cut out.
  ArgumentList back = {std::vector<int64_t>{4, 5}};
  back.insert(back.end(), rest.begin(), rest.end());
  Values joined;
  for (size_t i = 0; i < numbers.size(); ++i) joined.push_back(numbers[i] * counts[i]);
  expect_near(lowered("aten.col2im.default", {floats({1, 12, 8}, patches)}, back, {1, 2, 4, 5}),
              joined);
}

// The greatest of each pair, back where they stood.
TEST(DecomposedImages, Unpooling) {
  const TensorData x = floats({1, 2, 1, 2}, {5, 6, 7, 8});
  const TensorData places = integers({1, 2, 1, 2}, {1, 6, 0, 3});
  const std::vector<int64_t> image = {2, 4};
  expect_near(lowered("aten.max_unpool2d.default", {x, places}, ArgumentList{image}, {1, 2, 2, 4}),
              {0, 5, 0, 0, 0, 0, 6, 0, 7, 0, 0, 8, 0, 0, 0, 0});
  const std::vector<int64_t> volume = {2, 1, 2};
  const std::vector<int64_t> ones = {1, 1, 1};
  expect_near(lowered("aten.max_unpool3d.default",
                      {floats({1, 1, 1, 2}, {5, 6}), integers({1, 1, 1, 2}, {3, 0})},
                      ArgumentList{volume, ones, ones}, {1, 2, 1, 2}),
              {6, 0, 0, 5});
}

// Norms of batches whose size is known only when they run: (x - mean) / deviation of each row.
TEST(DecomposedImages, NormsOfSymbolicBatches) {
  ModelBuilder build("Net");
  const SymInt batch = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {batch, 1, 4});
  const TensorSpec pairs = contiguous_spec(ScalarType::kFloat, {batch, 1, 2});
  TensorSpec places = pairs;
  places.dtype = ScalarType::kLong;
  // Its places are read by nobody, and nobody may ask them for the batch.
  Node* pool = build.call_as("aten.adaptive_max_pool1d.default", {x, std::vector<int64_t>{2}}, {},
                             Value::Items{pairs, places});
  build.item(pool, 1);
  Node* greatest = build.item(pool, 0);
  Node* by_instance = build.call_as(
      "aten.instance_norm.default",
      {greatest, Argument(), Argument(), Argument(), Argument(), true, 0.1, 0.0, false}, {}, pairs);
  Node* by_group = build.call_as("aten.group_norm.default", {x, 1, Argument(), Argument(), 0.0}, {},
                                 *x->tensor());
  ExportedProgram program = build.finish({by_instance, by_group});
  to_edge(program);
  const std::vector<TensorData> inputs = {floats({2, 1, 4}, {0, 1, 3, 2, 8, 4, 2, 6})};
  const std::vector<TensorData> results = evaluate(program, inputs);
  expect_near(results[0], {-1, 1, 1, -1});
  const double a = std::sqrt(1.25);
  const double b = std::sqrt(5.0);
  expect_near(results[1], {-1.5 / a, -0.5 / a, 1.5 / a, 0.5 / a, 3 / b, -1 / b, -3 / b, 1 / b});
}

TEST(DecomposedImages, AffineGrids) {
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
    expect_near(lowered("aten.affine_grid_generator.default", {theta},
                        {std::vector<int64_t>{1, 1, 2, 3}, corners}, {1, 2, 3, 2}),
                expected(corners));
  }
}

// Without a batch a convolution gives what it gives of a batch of one.
TEST(DecomposedImages, ConvolutionsWithoutBatch) {
  const TensorData weight = seeded_weights("w", 2, {3, 2, 2, 2}, 1);
  const TensorData image = seeded_weights("x", 1, {2, 4, 4}, 1);
  const TensorData batch = floats({1, 2, 4, 4}, values_of(image));
  expect_near(run({image, weight}, one("aten.conv2d.default"))[0],
              values_of(run({batch, weight}, one("aten.conv2d.default"))[0]));
  const TensorData back = seeded_weights("w", 2, {2, 3, 2, 2}, 1);
  expect_near(run({image, back}, one("aten.conv_transpose2d.input"))[0],
              values_of(run({batch, back}, one("aten.conv_transpose2d.input"))[0]));
}

}  // namespace
}  // namespace vitrine::aot
