// Clamps behind nodes that XNNPACK would fuse them into, against formulas.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

constexpr Type kInt8 = Type::xnn_datatype_qint8;
constexpr float kUnbounded = std::numeric_limits<float>::infinity();

class ClampsTest : public DelegateTest {
 protected:
  // x -> x by a linear layer if asked for, then the clamps.
  void check_chain(const std::vector<Bounds>& clamps, bool behind_linear, Type type = kFloat,
                   std::optional<PerTensor> quant = {}) {
    SCOPED_TRACE(behind_linear ? "behind a linear layer" : "alone");
    BlobBuilder b;
    uint32_t last = b.input({4, 1}, type, quant);
    const auto add = [&](bool is_last) {
      return is_last ? b.output({4, 1}, type, quant) : b.internal({4, 1}, type, quant);
    };
    if (behind_linear) {
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
    ASSERT_TRUE(delegate);
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

// The last one has its way, whichever numbers those before it leave.
TEST_F(ClampsTest, MayExcludeEachOther) {
  for (const bool behind_linear : {false, true}) {
    check_chain({{0, 1}, {2, 3}}, behind_linear);
    check_chain({{-kUnbounded, -1}, {0, kUnbounded}}, behind_linear);
    check_chain({{0, 4}, {3, 10}, {5, 9}}, behind_linear);
    check_chain({{0, 10}, {2, 3}}, behind_linear);
    check_chain({{0, 1}, {2, 3}}, behind_linear, kInt8, PerTensor{0.5f, 0});
    check_chain({{0, 3}, {3, 6}}, behind_linear, kInt8, PerTensor{0.5f, 0});
    check_chain({{0, 0.2f}}, behind_linear, kInt8, PerTensor{0.5f, 0});
  }
}

// Raw bytes of the input's scale would come out.
TEST_F(ClampsTest, ConvertBehindMaxPooling) {
  BlobBuilder b;
  const uint32_t x = b.input({1, 2, 2, 1}, kInt8, PerTensor{0.5f, 7});
  const uint32_t largest = b.internal({1, 1, 1, 1}, kInt8, PerTensor{0.5f, 7});
  const uint32_t y = b.output({1, 1, 1, 1}, kInt8, PerTensor{0.25f, -128});
  b.pooling(Tag::XNNMaxPooling2d,
            {.kernel_height = 2, .kernel_width = 2, .stride_height = 2, .stride_width = 2}, x,
            largest);
  b.clamp(largest, y, {0, kUnbounded});
  load(b);
  ASSERT_TRUE(delegate);
  Tensor& out = factory.make(ScalarType::kChar, {1, 1, 1, 1});
  run({&factory.make<int8_t>({1, 2, 2, 1}, {10, 20, 30, 49}), &out});
  EXPECT_THAT(values_of<int8_t>(out), ElementsAre((49 - 7) * 2 - 128));
}

// Packed weights hold the scale of the result. A filter is known by that of the convolution.
TEST_F(ClampsTest, ConvertBehindConvolutionsThatShareWeights) {
  BlobBuilder b(BlobBuilder::Constants::kNamed);
  const uint32_t x = b.input({1, 1, 2, 1}, kInt8, PerTensor{1.0f, 0});
  const uint32_t filter = b.constant<int8_t>({1, 1, 1, 1}, {2}, Type::xnn_datatype_qcint8);
  b.values[filter].per_channel = PerChannel{{1.0f}};
  for (const float scale : {1.0f, 2.0f}) {
    const uint32_t product = b.internal({1, 1, 2, 1}, kInt8, PerTensor{1.0f, 0});
    const uint32_t y = b.output({1, 1, 2, 1}, kInt8, PerTensor{scale, 0});
    b.convolution(Tag::XNNConv2d, {}, x, filter, kInvalidId, product);
    b.clamp(product, y, {0, kUnbounded});
  }
  const BuilderData data(b);
  named_data = &data;
  load(b);
  ASSERT_TRUE(delegate);
  Tensor& first = factory.make(ScalarType::kChar, {1, 1, 2, 1});
  Tensor& second = factory.make(ScalarType::kChar, {1, 1, 2, 1});
  run({&factory.make<int8_t>({1, 1, 2, 1}, {30, -30}), &first, &second});
  EXPECT_THAT(values_of<int8_t>(first), ElementsAre(60, 0));
  EXPECT_THAT(values_of<int8_t>(second), ElementsAre(30, 0));
}

}  // namespace
}  // namespace vitrine::test
