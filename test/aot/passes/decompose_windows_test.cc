#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "aot/builder/seeded_weights.h"
#include "aot/graph/aot_error.h"
#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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

TEST(DecomposeWindows, PoolsOfVolumes) {
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
  for (const int mode : {0, 1, 2}) {  // padding counts, it does not count, a given divisor
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

TEST(DecomposeWindows, AdaptivePoolsOfVolumes) {
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

TEST(DecomposeWindows, Patches) {
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
TEST(DecomposeWindows, Unpooling) {
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

// A mean of rounded means would be another one.
TEST(DecomposeWindows, RefusesMeansOfIntegers) {
  const TensorData x = integers({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 12});
  EXPECT_THAT(
      [&] {
        lowered("aten.avg_pool3d.default", {x}, {Argument(Dims{2, 2, 2})}, {1, 1, 1, 1}, {},
                ScalarType::kLong);
      },
      ThrowsMessage<AotError>(HasSubstr("not real")));
}

}  // namespace
}  // namespace vitrine::aot
