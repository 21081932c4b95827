// Compares blockwise quantization with its formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "aot/graph/aot_error.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

using Sizes = std::vector<int64_t>;

Node* as_chars(ModelBuilder& build, Node* x) {
  return build.call("aten._to_copy.default", {x}, {{"dtype", ScalarType::kChar}});
}

TEST(DecomposeQuantization, DequantizesPerBlock) {
  const TensorData x = floats({2, 4}, {-8, -1, 0, 7, 1, 2, 3, 4});
  const TensorData scale = floats({2, 2}, {0.5, 2, 1, 10});
  const TensorData zero = floats({2, 2}, {1, 0, -1, 2});
  const auto found = run({x, scale, zero}, [](ModelBuilder& build, const Nodes& in) {
    return build.call_as("torchao.dequantize_affine.default",
                         {as_chars(build, in[0]), Sizes{1, 2}, in[1], as_chars(build, in[2]),
                          ScalarType::kChar, -8, 7},
                         {}, contiguous_spec(ScalarType::kFloat, {2, 4}));
  })[0];
  // The expected values are (x - zero) * scale. Each scale and each zero point applies to two
  // columns.
  expect_near(found, {-4.5, -1, 0, 14, 2, 3, 10, 20});
}

TEST(DecomposeQuantization, DequantizesPerChannelGroup) {
  const TensorData x = floats({1, 4}, {-8, -1, 0, 7});
  const TensorData scale = floats({1, 2}, {0.5, 2});
  const auto found = run({x, scale}, [](ModelBuilder& build, const Nodes& in) {
    return build.call_as("quantized_decomposed.dequantize_per_channel_group.default",
                         {as_chars(build, in[0]), in[1], Argument(), -8, 7, ScalarType::kChar, 2,
                          ScalarType::kFloat},
                         {}, contiguous_spec(ScalarType::kFloat, {1, 4}));
  })[0];
  expect_near(found, {-4, -0.5, 0, 14});
}

// The scale and the zero point of each row, and the input after it was quantized and dequantized.
struct Quantized {
  Values scale, zero, dequantized;
};
// Chooses parameters for each row of `x`, quantizes `x` with them and dequantizes the result.
Quantized quantized(const TensorData& x, const char* mapping, int64_t min, int64_t max) {
  const Sizes block = {1, x.sizes[1]};
  const std::vector<SymInt> rows = {x.sizes[0]};
  const auto result = [&](int which) {
    return values_of(run({x}, [&](ModelBuilder& build, const Nodes& in) -> Node* {
      Node* chosen = build.call_as("torchao.choose_qparams_affine.default",
                                   {in[0], mapping, block, ScalarType::kChar, min, max, Argument(),
                                    Argument(), ScalarType::kInt},
                                   {},
                                   Value::Items{contiguous_spec(ScalarType::kFloat, rows),
                                                contiguous_spec(ScalarType::kInt, rows)});
      Node* scale = build.item(chosen, 0);
      Node* zero = build.item(chosen, 1);
      if (which < 2) return which == 0 ? scale : zero;
      TensorSpec chars = *in[0]->tensor();
      chars.dtype = ScalarType::kChar;
      Node* small =
          build.call_as("torchao.quantize_affine.default",
                        {in[0], block, scale, zero, ScalarType::kChar, min, max}, {}, chars);
      return build.call_as("torchao.dequantize_affine.default",
                           {small, block, scale, zero, ScalarType::kChar, min, max}, {},
                           *in[0]->tensor());
    })[0]);
  };
  return {result(0), result(1), result(2)};
}

TEST(DecomposeQuantization, AsymmetricScaleCoversTheRangeOfTheRow) {
  const Quantized found =
      quantized(floats({3, 3}, {-1, 0, 3, 2, 4, 5, 0, 0, 0}), "ASYMMETRIC", -128, 127);
  const double eps = 0x1p-23;
  const Values scale = {4 / 255.0, 5 / 255.0, eps};
  // Each row's range is extended to include 0. In the first row, 0 is round(255 / 4) = 64 steps
  // above the minimum.
  const Values zero = {-128 + 64, -128, -128};
  ASSERT_EQ(found.zero, zero);
  for (size_t row = 0; row < 3; ++row) EXPECT_NEAR(found.scale[row] / scale[row], 1, 1e-6);
  const Values x = {-1, 0, 3, 2, 4, 5, 0, 0, 0};
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t row = i / 3;
    const double steps = std::nearbyint(x[i] / scale[row]);
    EXPECT_NEAR(found.dequantized[i], steps * scale[row], 1e-6) << i;
  }
}

TEST(DecomposeQuantization, SymmetricScaleHasZeroPointZero) {
  const TensorData x = floats({2, 2}, {-3.5, 1, 2, -1});
  const Quantized plain = quantized(x, "SYMMETRIC", -8, 7);
  EXPECT_EQ(plain.zero, (Values{0, 0}));
  EXPECT_NEAR(plain.scale[0] / (3.5 / 7.5), 1, 1e-6);
  EXPECT_NEAR(plain.scale[1] / (2 / 7.5), 1, 1e-6);
  // SYMMETRIC_NO_CLIPPING_ERR chooses scales that clip no value: -3.5 becomes -8 in the first row,
  // and 2 becomes 7 in the second.
  const Quantized wide = quantized(x, "SYMMETRIC_NO_CLIPPING_ERR", -8, 7);
  EXPECT_NEAR(wide.scale[0] / (3.5 / 8), 1, 1e-6);
  EXPECT_NEAR(wide.scale[1] / (2 / 7.0), 1, 1e-6);
  EXPECT_NEAR(wide.dequantized[0], -3.5, 1e-6);
  EXPECT_NEAR(wide.dequantized[2], 2, 1e-6);
}

TEST(DecomposeQuantization, RejectsBlocksThatDoNotDivideTheTensor) {
  const TensorData x = floats({2, 4}, {-8, -1, 0, 7, 1, 2, 3, 4});
  const auto lower = [&](const Sizes& block, const Sizes& scales, int64_t count) {
    run({x, floats(scales, Values(static_cast<size_t>(count), 1))},
        [&](ModelBuilder& build, const Nodes& in) {
          return build.call_as(
              "torchao.dequantize_affine.default",
              {as_chars(build, in[0]), block, in[1], Argument(), ScalarType::kChar, -8, 7}, {},
              contiguous_spec(ScalarType::kFloat, {2, 4}));
        });
  };
  EXPECT_NO_THROW(lower({1, 2}, {2, 2}, 4));
  EXPECT_THROW(lower({1, 3}, {2, 2}, 4), AotError);
  EXPECT_THROW(lower({2}, {2, 2}, 4), AotError);
  EXPECT_THROW(lower({1, 0}, {2, 2}, 4), AotError);
  EXPECT_THROW(lower({1, 2}, {2, 1}, 2), AotError);
}

}  // namespace
}  // namespace vitrine::aot
