#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "aot/graph/aot_error.h"
#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

struct Pooling {
  std::array<int64_t, 3> kernel, stride, padding, dilation, result_size;
};

// Calls `visit` for each window. The arguments are the indices of the input elements in the window,
// and the number of elements in the window including padding.
template <class Visit>
void for_each_window(const std::array<int64_t, 3>& in, const Pooling& pool, Visit visit) {
  std::array<int64_t, 3> at = {};
  for (at[0] = 0; at[0] < pool.result_size[0]; ++at[0]) {
    for (at[1] = 0; at[1] < pool.result_size[1]; ++at[1]) {
      for (at[2] = 0; at[2] < pool.result_size[2]; ++at[2]) {
        std::vector<size_t> inside;
        int64_t padded = 1;
        std::array<std::vector<int64_t>, 3> positions;
        for (size_t d = 0; d < 3; ++d) {
          int64_t size_with_padding = 0;
          for (int64_t k = 0; k < pool.kernel[d]; ++k) {
            const int64_t position =
                at[d] * pool.stride[d] - pool.padding[d] + k * pool.dilation[d];
            if (position >= 0 && position < in[d]) positions[d].push_back(position);
            if (position < in[d] + pool.padding[d]) ++size_with_padding;
          }
          padded *= size_with_padding;
        }
        for (const int64_t z : positions[0]) {
          for (const int64_t y : positions[1]) {
            for (const int64_t x : positions[2]) {
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

TEST(DecomposeWindows, SupportsPoolingOfVolumes) {
  const TensorData x = seeded_weights("x", 5, {1, 1, 5, 6, 4}, 1);
  const Values elements = values_of(x);
  const std::array<int64_t, 3> in = {5, 6, 4};
  const Pooling max_pool = {{3, 2, 3}, {2, 2, 1}, {1, 0, 1}, {1, 2, 1}, {3, 2, 4}};
  Values maxima;
  for_each_window(in, max_pool, [&](const std::vector<size_t>& inside, int64_t) {
    double max = -kInfinity;
    for (const size_t i : inside) max = std::max(max, elements[i]);
    maxima.push_back(max);
  });
  expect_call("aten.max_pool3d.default", {x},
              {list(max_pool.kernel), list(max_pool.stride), list(max_pool.padding),
               list(max_pool.dilation), false},
              {1, 1, 3, 2, 4}, maxima);
  // Some of these windows extend beyond the input, because sizes are rounded up.
  const Pooling mean_pool = {{2, 3, 2}, {2, 2, 2}, {0, 1, 1}, {1, 1, 1}, {3, 4, 3}};
  // Mode 0 divides by the number of elements including padding, mode 1 by the number without
  // padding, and mode 2 by 7.
  for (const int mode : {0, 1, 2}) {
    SCOPED_TRACE(mode);
    Values means;
    for_each_window(in, mean_pool, [&](const std::vector<size_t>& inside, int64_t padded) {
      double sum = 0;
      for (const size_t i : inside) sum += elements[i];
      means.push_back(sum / (mode == 0   ? static_cast<double>(padded)
                             : mode == 1 ? static_cast<double>(inside.size())
                                         : 7));
    });
    expect_call("aten.avg_pool3d.default", {x},
                {list(mean_pool.kernel), list(mean_pool.stride), list(mean_pool.padding), true,
                 mode != 1, mode == 2 ? Argument(7) : Argument()},
                {1, 1, 3, 4, 3}, means);
  }
}

// If several elements of a window are the maximum, the result is the index of the first one in
// row-major order.
TEST(DecomposeWindows, ReturnsIndicesOfMaximaInVolumes) {
  Values elements;
  for (int i = 0; i < 2 * 4 * 5 * 3; ++i) elements.push_back((i * 7 + i / 11) % 9);
  const TensorData x = floats({1, 2, 4, 5, 3}, elements);
  const std::array<int64_t, 3> in = {4, 5, 3};
  const Pooling pool = {{2, 3, 2}, {1, 2, 1}, {1, 1, 0}, {1, 1, 1}, {5, 3, 2}};
  Values indices;
  for (size_t channel = 0; channel < 2; ++channel) {
    for_each_window(in, pool, [&](const std::vector<size_t>& inside, int64_t) {
      const auto element = [&](size_t i) { return elements[channel * 60 + i]; };
      indices.push_back(static_cast<double>(*std::ranges::max_element(inside, {}, element)));
    });
  }
  expect_near(lowered_item("aten.max_pool3d_with_indices.default", {x},
                           {list(pool.kernel), list(pool.stride), list(pool.padding),
                            list(pool.dilation), false},
                           values_and_indices({1, 2, 5, 3, 2}), 1),
              indices);
}

TEST(DecomposeWindows, SupportsAdaptivePoolingOfVolumes) {
  const TensorData x = seeded_weights("x", 5, {1, 2, 5, 3, 4}, 1);
  const Values elements = values_of(x);
  const std::array<int64_t, 3> in = {5, 3, 4};
  const std::array<int64_t, 3> out = {3, 2, 3};
  Values means;
  Values maxima;
  const auto begin = [&](size_t d, int64_t i) { return i * in[d] / out[d]; };
  const auto end = [&](size_t d, int64_t i) { return ((i + 1) * in[d] + out[d] - 1) / out[d]; };
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t a = 0; a < 3; ++a) {
      for (int64_t b = 0; b < 2; ++b) {
        for (int64_t e = 0; e < 3; ++e) {
          double sum = 0;
          double max = -kInfinity;
          double count = 0;
          for (int64_t z = begin(0, a); z < end(0, a); ++z) {
            for (int64_t y = begin(1, b); y < end(1, b); ++y) {
              for (int64_t w = begin(2, e); w < end(2, e); ++w) {
                const double value = elements[static_cast<size_t>(((c * 5 + z) * 3 + y) * 4 + w)];
                sum += value;
                max = std::max(max, value);
                ++count;
              }
            }
          }
          means.push_back(sum / count);
          maxima.push_back(max);
        }
      }
    }
  }
  expect_call("aten.adaptive_avg_pool3d.default", {x}, {list(out)}, {1, 2, 3, 2, 3}, means);
  expect_near(lowered_item("aten.adaptive_max_pool3d.default", {x}, {list(out)},
                           values_and_indices({1, 2, 3, 2, 3}), 0),
              maxima);
  Values channel_means(2, 0);
  for (size_t i = 0; i < elements.size(); ++i) channel_means[i / 60] += elements[i] / 60;
  expect_call("aten.adaptive_avg_pool3d.default", {x}, {Dims{1, 1, 1}}, {1, 2, 1, 1, 1},
              channel_means);
}

TEST(DecomposeWindows, ExtractsPatchesAndSumsOverlappingPatches) {
  const TensorData x = seeded_weights("x", 7, {1, 2, 4, 5}, 1);
  const Values elements = values_of(x);
  // The patches are 2 x 3 elements, with dilation 2 x 1, padding 1 x 0 and stride 1 x 2.
  const std::array<std::vector<int64_t>, 4> windows = {{{2, 3}, {2, 1}, {1, 0}, {1, 2}}};
  const int64_t rows = 4;
  const int64_t columns = 2;
  Values patches;
  Values counts(elements.size(), 0);
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t column = 0; column < columns; ++column) {
            const int64_t y = row - 1 + 2 * i;
            const int64_t z = 2 * column + j;
            const bool is_inside = y >= 0 && y < 4 && z < 5;
            const auto index = static_cast<size_t>((c * 4 + y) * 5 + z);
            patches.push_back(is_inside ? elements[index] : 0);
            if (is_inside) counts[index] += 1;
          }
        }
      }
    }
  }
  const ArgumentList rest = {windows[0], windows[1], windows[2], windows[3]};
  expect_call("aten.im2col.default", {x}, rest, {1, 12, 8}, patches);
  // col2im adds each element once for each patch that holds it.
  ArgumentList col2im_args = {Dims{4, 5}};
  col2im_args.insert(col2im_args.end(), rest.begin(), rest.end());
  Values sums;
  for (size_t i = 0; i < elements.size(); ++i) sums.push_back(elements[i] * counts[i]);
  expect_call("aten.col2im.default", {floats({1, 12, 8}, patches)}, col2im_args, {1, 2, 4, 5},
              sums);
}

TEST(DecomposeWindows, UnpoolingWritesElementsAtTheirIndices) {
  const TensorData x = floats({1, 2, 1, 2}, {5, 6, 7, 8});
  const TensorData indices = integers({1, 2, 1, 2}, {1, 6, 0, 3});
  expect_call("aten.max_unpool2d.default", {x, indices}, {Dims{2, 4}}, {1, 2, 2, 4},
              {0, 5, 0, 0, 0, 0, 6, 0, 7, 0, 0, 8, 0, 0, 0, 0});
  expect_call("aten.max_unpool3d.default",
              {floats({1, 1, 1, 2}, {5, 6}), integers({1, 1, 1, 2}, {3, 0})},
              {Dims{2, 1, 2}, Dims{1, 1, 1}, Dims{1, 1, 1}}, {1, 2, 1, 2}, {6, 0, 0, 5});
}

// The decomposition computes means of means. With integers, the inner means would be rounded, which
// would change the outer means.
TEST(DecomposeWindows, RejectsAveragePoolingOfIntegers) {
  const TensorData x = integers({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 12});
  EXPECT_ERROR(
      AotError,
      lowered("aten.avg_pool3d.default", {x}, {Dims{2, 2, 2}}, {1, 1, 1, 1}, {}, ScalarType::kLong),
      "must have a float dtype");
}

}  // namespace
}  // namespace vitrine::aot
