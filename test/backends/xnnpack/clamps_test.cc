// Compares the results of clamps with formulas. Each clamp follows a node into which XNNPACK would
// fuse it.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

constexpr Type kInt8Type = Type::xnn_datatype_qint8;
constexpr float kUnbounded = std::numeric_limits<float>::infinity();

class ClampsTest : public DelegateTest {
 protected:
  // Checks a chain of clamps. If `after_linear`, the chain follows a linear layer with weight 1.
  void check_chain(const std::vector<Bounds>& clamps, bool after_linear, Type type = kFloat,
                   std::optional<PerTensor> quant = {}) {
    SCOPED_TRACE(after_linear ? "after a linear layer" : "alone");
    PayloadBuilder b;
    uint32_t last = b.input({4, 1}, type, quant);
    const auto add = [&](bool is_last) {
      return is_last ? b.output({4, 1}, type, quant) : b.internal({4, 1}, type, quant);
    };
    if (after_linear) {
      const uint32_t y = add(false);
      const uint32_t one = type == kFloat
                               ? b.constant<float>({1, 1}, {1})
                               : b.constant<int8_t>({1, 1}, {1}, type, PerTensor{1.0f, 0});
      b.fully_connected(last, one, kInvalidId, y);
      last = y;
    }
    for (size_t i = 0; i < clamps.size(); ++i) {
      const uint32_t y = add(i + 1 == clamps.size());
      b.clamp(last, y, clamps[i]);
      last = y;
    }
    load(b);
    std::vector<float> expected = {-20, 1, 3.5f, 20};
    Tensor& in = type == kFloat ? factory.make<float>({4, 1}, expected)
                                : factory.make<int8_t>({4, 1}, {-40, 2, 7, 40});
    Tensor& out = factory.make(type == kFloat ? ScalarType::kFloat : ScalarType::kChar, {4, 1});
    run({&in, &out});
    for (float& x : expected) {
      for (const Bounds& bounds : clamps) x = std::clamp(x, bounds.min, bounds.max);
    }
    if (type == kFloat) {
      EXPECT_EQ(values_of<float>(out), expected);
    } else {
      for (float& x : expected) x = std::nearbyint(x / quant->scale);
      EXPECT_THAT(values_of<int8_t>(out), testing::ElementsAreArray(expected));
    }
  }

  static constexpr Type kFloat = Type::xnn_datatype_fp32;
};

// If the bounds of two clamps do not overlap, the result is a bound of the later clamp.
TEST_F(ClampsTest, LastClampWinsIfBoundsAreDisjoint) {
  for (const bool after_linear : {false, true}) {
    check_chain({{0, 1}, {2, 3}}, after_linear);
    check_chain({{-kUnbounded, -1}, {0, kUnbounded}}, after_linear);
    check_chain({{0, 4}, {3, 10}, {5, 9}}, after_linear);
    check_chain({{0, 10}, {2, 3}}, after_linear);
    check_chain({{0, 1}, {2, 3}}, after_linear, kInt8Type, PerTensor{0.5f, 0});
    check_chain({{0, 3}, {3, 6}}, after_linear, kInt8Type, PerTensor{0.5f, 0});
    check_chain({{0, 0.2f}}, after_linear, kInt8Type, PerTensor{0.5f, 0});
  }
}

// If the clamp were fused, the output would have the input's scale.
TEST_F(ClampsTest, ClampAfterMaxPoolingConvertsToTheScaleOfItsOutput) {
  PayloadBuilder b;
  const uint32_t x = b.input({1, 2, 2, 1}, kInt8Type, PerTensor{0.5f, 7});
  const uint32_t largest = b.internal({1, 1, 1, 1}, kInt8Type, PerTensor{0.5f, 7});
  const uint32_t y = b.output({1, 1, 1, 1}, kInt8Type, PerTensor{0.25f, -128});
  b.pooling(Tag::XNNMaxPooling2d, window_of(2, 2).strided(2, 2), x, largest);
  b.clamp(largest, y, {0, kUnbounded});
  load(b);
  Tensor& out = factory.make(ScalarType::kChar, {1, 1, 1, 1});
  run({&factory.make<int8_t>({1, 2, 2, 1}, {10, 20, 30, 49}), &out});
  EXPECT_THAT(values_of<int8_t>(out), ElementsAre((49 - 7) * 2 - 128));
}

// The packed weights depend on the scale of the clamp's output, but their cache key contains only
// the scale of the convolution's output.
TEST_F(ClampsTest, ClampedConvolutionsWithSharedWeightsUseTheirOwnOutputScales) {
  PayloadBuilder b(PayloadBuilder::Constants::kNamed);
  const uint32_t x = b.input({1, 1, 2, 1}, kInt8Type, PerTensor{1.0f, 0});
  const uint32_t filter = b.constant<int8_t>({1, 1, 1, 1}, {2}, Type::xnn_datatype_qcint8);
  b.values[filter].per_channel = PerChannel{{1.0f}};
  for (const float scale : {1.0f, 2.0f}) {
    const uint32_t product = b.internal({1, 1, 2, 1}, kInt8Type, PerTensor{1.0f, 0});
    const uint32_t y = b.output({1, 1, 2, 1}, kInt8Type, PerTensor{scale, 0});
    b.convolution(Tag::XNNConv2d, {}, x, filter, kInvalidId, product);
    b.clamp(product, y, {0, kUnbounded});
  }
  const BuilderData data(b);
  named_data = &data;
  load(b);
  Tensor& first = factory.make(ScalarType::kChar, {1, 1, 2, 1});
  Tensor& second = factory.make(ScalarType::kChar, {1, 1, 2, 1});
  run({&factory.make<int8_t>({1, 1, 2, 1}, {30, -30}), &first, &second});
  EXPECT_THAT(values_of<int8_t>(first), ElementsAre(60, 0));
  EXPECT_THAT(values_of<int8_t>(second), ElementsAre(30, 0));
}

}  // namespace
}  // namespace vitrine::test
