// What quantised nodes compute, against formulas.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

class QuantisedNodesTest : public DelegateTest {
 protected:
  void run_dynamically_quantised(Tag tag);
};

// XNNPACK keeps a buffer of zeros for each image. Of ones, a window sums as many as it covers.
void QuantisedNodesTest::run_dynamically_quantised(Tag tag) {
  BlobBuilder b;
  const uint32_t x = b.input({1, 4, 4, 2}), y = b.output({1, 4, 4, 2});
  const uint32_t quantised = b.internal({1, 4, 4, 2}, Type::xnn_datatype_qdint8);
  b.values[quantised].nonbatch_dims = 3;
  const uint32_t filter =
      b.constant<int8_t>({2, 3, 3, 2}, std::vector<int8_t>(36, 1), Type::xnn_datatype_qcint8);
  b.values[filter].per_channel = PerChannel{{1, 1}};
  b.unary(Tag::XNNConvert, x, quantised);
  b.convolution(tag,
                {.top = 1,
                 .right = 1,
                 .bottom = 1,
                 .left = 1,
                 .kernel_height = 3,
                 .kernel_width = 3,
                 .group_in = 2,
                 .group_out = 2},
                quantised, filter, b.constant<float>({2}, {0, 0}), y);
  load(b);
  using Sizes = std::pair<int32_t, int32_t>;
  for (const auto& [batch, size] : {Sizes{1, 4}, {4, 4}, {2, 4}, {3, 6}, {8, 5}, {1, 5}}) {
    SCOPED_TRACE(batch);
    const std::vector<int32_t> sizes = {batch, size, size, 2};
    const auto count = static_cast<size_t>(batch * size * size * 2);
    Tensor& in = factory.make<float>(sizes, std::vector<float>(count, 1));
    Tensor& out = factory.make(ScalarType::kFloat, sizes);
    const Error error = execute({&in, &out});
    if (!xnnpack::operator_times_are_measured() && batch != 1) {  // the second call
      EXPECT_EQ(error.code(), ErrorCode::kNotSupported);
      EXPECT_EQ(execute({&in, &out}).code(), ErrorCode::kInvalidState);
      return;
    }
    ASSERT_TRUE(error.ok()) << error.message();
    const auto covered = [last = static_cast<size_t>(size) - 1](size_t at) {
      return at == 0 || at == last ? 2 : 3;
    };
    const auto side = static_cast<size_t>(size);
    for (size_t i = 0; i < count; ++i) {
      const int ones = 2 * covered(i / 2 % side) * covered(i / 2 / side % side);
      ASSERT_NEAR(out.data<float>()[i], static_cast<float>(ones), 0.2f) << i;
    }
  }
}

TEST_F(QuantisedNodesTest, DynamicallyQuantisedConvolutionsTakeAnyBatch) {
  run_dynamically_quantised(Tag::XNNConv2d);
}

TEST_F(QuantisedNodesTest, DynamicallyQuantisedTransposedConvolutionsTakeAnyBatch) {
  run_dynamically_quantised(Tag::XNNConvTranspose2d);
}

TEST_F(QuantisedNodesTest, ConvertQuantisesAndBack) {
  BlobBuilder b;
  const PerTensor q{0.5f, 3};
  const uint32_t x = b.input({4}), i8 = b.output({4}, Type::xnn_datatype_qint8, q);
  const uint32_t back = b.output({4});
  b.unary(Tag::XNNConvert, x, i8);
  b.unary(Tag::XNNConvert, i8, back);
  load(b);
  ASSERT_TRUE(delegate);
  Tensor& quantised = factory.make(ScalarType::kChar, {4});
  Tensor& restored = factory.make(ScalarType::kFloat, {4});
  run({&factory.make<float>({4}, {0, 1, -1.1f, 1000}), &quantised, &restored});
  EXPECT_THAT(values_of<int8_t>(quantised), ElementsAre(3, 5, 1, 127));
  EXPECT_THAT(values_of<float>(restored), ElementsAre(0, 1, -1, 62));
}

TEST_F(QuantisedNodesTest, QuantisedAdd) {
  BlobBuilder b;
  const auto t = Type::xnn_datatype_qint8;
  const uint32_t x = b.input({3}, t, PerTensor{0.5f, 0}), y = b.input({3}, t, PerTensor{0.25f, 4});
  const uint32_t z = b.output({3}, t, PerTensor{1.0f, -1});
  b.binary(Tag::XNNAdd, x, y, z);
  load(b);
  ASSERT_TRUE(delegate);
  Tensor& out = factory.make(ScalarType::kChar, {3});
  run({&factory.make<int8_t>({3}, {2, 20, -8}), &factory.make<int8_t>({3}, {8, 12, 4}), &out});
  EXPECT_THAT(values_of<int8_t>(out), ElementsAre(1, 11, -5));  // 1+1, 10+2, -4+0
}

// The ends of what XNNPACK has numbers for; checks_test has what is beyond.
TEST_F(QuantisedNodesTest, TakeScalesUpToTheEnds) {
  struct Scales {
    Tag tag;
    std::vector<float> inputs;
    float result;
    float slope = 0;
  };
  const float below = std::nextafter(0x1p20f, 0.0f);
  for (const Scales& each : {Scales{Tag::XNNAdd, {1, 1}, 0x1p11f},
                             {Tag::XNNAdd, {below, below}, 1},
                             {Tag::XNNAdd, {0x1p-11f, 1}, 1},
                             {Tag::XNNSubtract, {1, 1e-30f}, 1},
                             {Tag::XNNSubtract, {1, below}, 0x1p2f},
                             {Tag::XNNMultiply, {1, 1}, 0x1p20f},
                             {Tag::XNNMultiply, {1e-30f, 1e-30f}, 1},
                             {Tag::XNNMultiply, {std::nextafter(0x1p8f, 0.0f), 1}, 1},
                             {Tag::XNNConvert, {1}, 0x1.8p8f},
                             {Tag::XNNConvert, {0x1p7f}, 1},
                             {Tag::XNNLeakyReLU, {1}, 0x1.8p8f, 1},
                             {Tag::XNNLeakyReLU, {1}, 1, 0},
                             {Tag::XNNLeakyReLU, {1}, 1, 0x1p-10f},
                             {Tag::XNNLeakyReLU, {0x1p7f}, 1, 0x1p-15f},
                             {Tag::XNNLeakyReLU, {1}, 1, -0x1.FFFCp6f}}) {
    SCOPED_TRACE(testing::Message()
                 << fb::EnumNameXNodeUnion(each.tag) << each.inputs[0] << " -> " << each.result);
    BlobBuilder b;
    const auto t = Type::xnn_datatype_qint8;
    std::vector<Tensor*> tensors;
    for (const float scale : each.inputs) {
      b.input({3}, t, PerTensor{scale, 0});
      tensors.push_back(&factory.make<int8_t>({3}, {100, -100, 3}));
    }
    const uint32_t z = b.output({3}, t, PerTensor{each.result, 0});
    if (each.tag == Tag::XNNLeakyReLU) {
      b.leaky_relu(0, z, each.slope);
    } else if (each.tag == Tag::XNNConvert) {
      b.unary(each.tag, 0, z);
    } else {
      b.binary(each.tag, 0, 1, z);
    }
    load(b);
    ASSERT_TRUE(delegate);
    Tensor& out = factory.make(ScalarType::kChar, {3});
    tensors.push_back(&out);
    run(tensors);
    const auto values = values_of<int8_t>(*tensors[0]);
    for (size_t i = 0; i < 3; ++i) {
      const double p = double{each.inputs[0]} * values[i];
      const double q = double{each.inputs.back()} * values[i];
      const double exact = each.tag == Tag::XNNAdd         ? p + q
                           : each.tag == Tag::XNNSubtract  ? p - q
                           : each.tag == Tag::XNNMultiply  ? p * q
                           : each.tag == Tag::XNNLeakyReLU ? p * (p < 0 ? each.slope : 1)
                                                           : p;
      EXPECT_NEAR(values_of<int8_t>(out)[i], std::clamp(exact / double{each.result}, -128.0, 127.0),
                  0.51);
    }
  }
}

class QuantisedWeightsTest : public QuantisedNodesTest {
 protected:
  // x (scale 0.5) times two rows of weights (scales 1 and 2, or 1 and 1), plus a bias.
  void check(BlobBuilder& b, std::vector<float> scales, bool as_convolution) {
    const auto i8 = Type::xnn_datatype_qint8;
    const bool per_channel = !scales.empty();
    const uint32_t height = 2;
    std::vector<uint32_t> in_shape = {height, 3}, out_shape = {height, 2}, filter_shape = {2, 3};
    if (as_convolution) {
      in_shape = {1, height, 1, 3};
      out_shape = {1, height, 1, 2};
      filter_shape = {2, 1, 1, 3};
    }
    const uint32_t x = b.input(in_shape, i8, PerTensor{0.5f, 1});
    const uint32_t y = b.output(out_shape, i8, PerTensor{2.0f, 0});
    const uint32_t filter =
        b.constant<int8_t>(filter_shape, {1, 2, 3, -1, -2, 4},
                           per_channel ? Type::xnn_datatype_qcint8 : i8, PerTensor{1.0f, 0});
    const uint32_t bias = b.constant<int32_t>(
        {2}, {8, -4}, per_channel ? Type::xnn_datatype_qcint32 : Type::xnn_datatype_qint32,
        PerTensor{0.5f, 0});
    if (per_channel) {
      for (const uint32_t id : {filter, bias}) {
        BlobValue& value = b.values[id];
        value.per_tensor.reset();
        value.per_channel = PerChannel{};
        std::vector<float> own = scales;
        if (id == bias) {
          for (float& scale : own) scale *= 0.5f;  // of input times weight
        }
        value.scale_constant = b.add_constant(own);
        value.scale_count = 2;
      }
    }
    if (as_convolution) {
      WindowSpec w;
      w.group_in = 3;
      w.group_out = 2;
      b.convolution(Tag::XNNConv2d, w, x, filter, bias, y);
    } else {
      b.fully_connected(x, filter, bias, y);
    }
    load(b);
    ASSERT_TRUE(delegate);
    const std::vector<int32_t> in_sizes(in_shape.begin(), in_shape.end());
    const std::vector<int32_t> out_sizes(out_shape.begin(), out_shape.end());
    Tensor& out = factory.make(ScalarType::kChar, out_sizes);
    run({&factory.make<int8_t>(in_sizes, {3, 5, 7, 1, 1, 9}), &out});
    const float second = per_channel ? scales[1] : 1.0f;
    // Inputs are 1, 2, 3 and 0, 0, 4.
    EXPECT_THAT(values_of<int8_t>(out),
                ElementsAre((14 + 4) / 2,
                            static_cast<int8_t>(second * (7 - 2) / 2 - (second == 1 ? 0.5f : 0)),
                            (12 + 4) / 2, static_cast<int8_t>(second * (16 - 2) / 2)));
  }
};

TEST_F(QuantisedWeightsTest, FullyConnectedPerChannel) {
  BlobBuilder b;
  check(b, {1, 2}, false);
}

TEST_F(QuantisedWeightsTest, ConvolutionPerChannel) {
  BlobBuilder b;
  check(b, {1, 2}, true);
}

TEST_F(QuantisedWeightsTest, ConvolutionPerTensor) {
  BlobBuilder b;
  check(b, {}, true);
}

}  // namespace
}  // namespace vitrine::test
