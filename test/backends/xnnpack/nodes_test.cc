// What nodes compute, against formulas.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

std::vector<float> ramp(size_t count, float first = 0.0f, float step = 1.0f) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<float>(i);
  return values;
}

class NodesTest : public DelegateTest {
 protected:
  // Runs a delegate of one input and one output.
  std::vector<float> run_one(BlobBuilder& b, std::vector<int32_t> in_shape,
                             const std::vector<float>& in, std::vector<int32_t> out_shape) {
    load(b);
    if (!delegate) return {};
    Tensor& out = factory.make(ScalarType::kFloat, std::move(out_shape));
    run({&factory.make(std::move(in_shape), in), &out});
    return values_of<float>(out);
  }
};

struct UnaryCase {
  Tag tag;
  float (*formula)(float);
};

class UnaryTest : public NodesTest, public testing::WithParamInterface<UnaryCase> {};

TEST_P(UnaryTest, FollowsTheFormula) {
  BlobBuilder b;
  const uint32_t x = b.input({2, 19}), y = b.output({2, 19});
  b.unary(GetParam().tag, x, y);
  const std::vector<float> in = ramp(38, 0.05f, 0.1f);
  std::vector<float> expected;
  for (const float value : in) expected.push_back(GetParam().formula(value));
  EXPECT_THAT(run_one(b, {2, 19}, in, {2, 19}), Pointwise(FloatNear(2e-5f), expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, UnaryTest,
    testing::Values(
        UnaryCase{Tag::XNNAbs, [](float x) { return std::abs(x); }},
        UnaryCase{Tag::XNNNegate, [](float x) { return -x; }},
        UnaryCase{Tag::XNNSquare, [](float x) { return x * x; }},
        UnaryCase{Tag::XNNSquareRoot, [](float x) { return std::sqrt(x); }},
        UnaryCase{Tag::XNNReciprocalSquareRoot, [](float x) { return 1 / std::sqrt(x); }},
        UnaryCase{Tag::XNNFloor, [](float x) { return std::floor(x); }},
        UnaryCase{Tag::XNNCeiling, [](float x) { return std::ceil(x); }},
        UnaryCase{Tag::XNNLog, [](float x) { return std::log(x); }},
        UnaryCase{Tag::XNNExp, [](float x) { return std::exp(x); }},
        UnaryCase{Tag::XNNTanh, [](float x) { return std::tanh(x); }},
        UnaryCase{Tag::XNNSin, [](float x) { return std::sin(x); }},
        UnaryCase{Tag::XNNCos, [](float x) { return std::cos(x); }},
        UnaryCase{Tag::XNNSigmoid, [](float x) { return 1 / (1 + std::exp(-x)); }},
        UnaryCase{Tag::XNNHardswish,
                  [](float x) { return x * std::min(std::max(x + 3, 0.0f), 6.0f) / 6; }},
        UnaryCase{Tag::XNNGelu,
                  [](float x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2_v<float>)); }},
        UnaryCase{Tag::XNNCopy, [](float x) { return x; }}));

TEST_F(NodesTest, EluAndLeakyReluHaveParameters) {
  BlobBuilder b;
  const uint32_t x = b.input({4}), y = b.output({4}), z = b.output({4});
  b.elu(x, y, 0.5f);
  b.leaky_relu(x, z, 0.25f);
  load(b);
  ASSERT_TRUE(delegate);
  Tensor& elu = factory.make(ScalarType::kFloat, {4});
  Tensor& leaky = factory.make(ScalarType::kFloat, {4});
  run({&factory.make<float>({4}, {-2, -1, 0, 3}), &elu, &leaky});
  EXPECT_THAT(values_of<float>(elu),
              Pointwise(FloatNear(1e-5f),
                        {0.5f * std::expm1(-2.0f), 0.5f * std::expm1(-1.0f), 0.0f, 3.0f}));
  EXPECT_THAT(values_of<float>(leaky), ElementsAre(-0.5f, -0.25f, 0, 3));
}

TEST_F(NodesTest, BinaryNodesBroadcast) {
  BlobBuilder b;
  const uint32_t x = b.input({2, 3}), row = b.constant<float>({3}, {2, 4, 8});
  const Tag tags[] = {Tag::XNNAdd, Tag::XNNSubtract, Tag::XNNMultiply,
                      Tag::XNNDiv, Tag::XNNMinimum,  Tag::XNNMaximum};
  for (const Tag tag : tags) b.binary(tag, x, row, b.output({2, 3}));
  load(b);
  ASSERT_TRUE(delegate);
  std::vector<Tensor*> tensors = {&factory.make<float>({2, 3}, {1, 2, 3, 4, 5, 6})};
  for (size_t i = 0; i < std::size(tags); ++i) {
    tensors.push_back(&factory.make(ScalarType::kFloat, {2, 3}));
  }
  run(tensors);
  EXPECT_THAT(values_of<float>(*tensors[1]), ElementsAre(3, 6, 11, 6, 9, 14));
  EXPECT_THAT(values_of<float>(*tensors[2]), ElementsAre(-1, -2, -5, 2, 1, -2));
  EXPECT_THAT(values_of<float>(*tensors[3]), ElementsAre(2, 8, 24, 8, 20, 48));
  EXPECT_THAT(values_of<float>(*tensors[4]), ElementsAre(0.5f, 0.5f, 0.375f, 2, 1.25f, 0.75f));
  EXPECT_THAT(values_of<float>(*tensors[5]), ElementsAre(1, 2, 3, 2, 4, 6));
  EXPECT_THAT(values_of<float>(*tensors[6]), ElementsAre(2, 4, 8, 4, 5, 8));
}

TEST_F(NodesTest, BinaryNodesKeepTheirBounds) {
  BlobBuilder b;
  const uint32_t x = b.input({4}), y = b.input({4}), z = b.output({4});
  b.binary(Tag::XNNAdd, x, y, z, Bounds{-1, 5});
  load(b);
  ASSERT_TRUE(delegate);
  Tensor& out = factory.make(ScalarType::kFloat, {4});
  run({&factory.make<float>({4}, {-3, 0, 2, 4}), &factory.make<float>({4}, {1, 1, 1, 4}), &out});
  EXPECT_THAT(values_of<float>(out), ElementsAre(-1, 1, 3, 5));
}

TEST_F(NodesTest, PReluTakesASlopeAChannel) {
  BlobBuilder b;
  const uint32_t x = b.input({2, 2}), y = b.output({2, 2});
  b.binary(Tag::XNNPReLU, x, b.constant<float>({2}, {0.5f, 0.25f}), y);
  EXPECT_THAT(run_one(b, {2, 2}, {-2, -2, 1, -4}, {2, 2}), ElementsAre(-1, -0.5f, 1, -1));
}

TEST_F(NodesTest, FullyConnectedWithBiasAndBounds) {
  BlobBuilder b;
  const uint32_t x = b.input({2, 3}), y = b.output({2, 2});
  b.fully_connected(x, b.constant<float>({2, 3}, {1, 2, 3, -1, -1, -1}),
                    b.constant<float>({2}, {10, 20}), y, 0, Bounds{0, 25});
  EXPECT_THAT(run_one(b, {2, 3}, {1, 1, 1, 2, 3, 4}, {2, 2}), ElementsAre(16, 17, 25, 11));
}

TEST_F(NodesTest, FullyConnectedTakesTransposedAndComputedWeights) {
  BlobBuilder transposed;
  uint32_t x = transposed.input({1, 3}), y = transposed.output({1, 2});
  transposed.fully_connected(x, transposed.constant<float>({3, 2}, {1, -1, 2, -1, 3, -1}),
                             kInvalidId, y, /*flags=*/1);
  EXPECT_THAT(run_one(transposed, {1, 3}, {2, 3, 4}, {1, 2}), ElementsAre(20, -9));

  BlobBuilder computed;
  x = computed.input({1, 3});
  const uint32_t w = computed.input({2, 3});
  y = computed.output({1, 2});
  computed.fully_connected(x, w, kInvalidId, y);
  load(computed);
  ASSERT_TRUE(delegate);
  Tensor& out = factory.make(ScalarType::kFloat, {1, 2});
  run({&factory.make<float>({1, 3}, {2, 3, 4}), &factory.make<float>({2, 3}, {1, 2, 3, -1, -1, -1}),
       &out});
  EXPECT_THAT(values_of<float>(out), ElementsAre(20, -9));
}

// Early blobs quantise an input without a node for it.
TEST_F(NodesTest, InputsQuantisedOnEntry) {
  BlobBuilder b(BlobBuilder::Constants::kInFlatbuffer);
  const uint32_t x = b.input({2, 4}), y = b.output({2, 1});
  b.values[x].dq_type = Type::xnn_datatype_qint8;
  const uint32_t filter = b.constant<int8_t>({1, 4}, {2, 4, 6, 8}, Type::xnn_datatype_qcint8);
  b.values[filter].per_channel = PerChannel{{0.5f}, 0, false};
  b.fully_connected(x, filter, b.constant<float>({1}, {10}), y);
  // Weights are 1, 2, 3, 4. The rows have ranges of 2.55 and 5.1: steps of 0.01 and 0.02.
  const std::vector<float> rows =
      run_one(b, {2, 4}, {0, 2.55f, 1, 0.5f, 0, 5.1f, 2, -0.0f}, {2, 1});
  EXPECT_NEAR(rows[0], 10 + 2 * 2.55f + 3 + 2, 0.06f);
  EXPECT_NEAR(rows[1], 10 + 2 * 5.1f + 6, 0.12f);
}

TEST_F(NodesTest, BatchMatrixMultiply) {
  BlobBuilder b;
  const uint32_t x = b.input({2, 1, 2}), w = b.input({2, 2, 1}), y = b.output({2, 1, 1});
  b.binary(Tag::XNNBatchMatrixMultiply, x, w, y);
  load(b);
  ASSERT_TRUE(delegate);
  Tensor& out = factory.make(ScalarType::kFloat, {2, 1, 1});
  run({&factory.make<float>({2, 1, 2}, {1, 2, 3, 4}), &factory.make<float>({2, 2, 1}, {5, 6, 7, 8}),
       &out});
  EXPECT_THAT(values_of<float>(out), ElementsAre(17, 53));
}

// NHWC convolution by its definition.
std::vector<float> convolve(const std::vector<float>& in, uint32_t height, uint32_t width,
                            const std::vector<float>& filter, const std::vector<float>& bias,
                            const WindowSpec& w) {
  const uint32_t in_channels = w.group_in * w.groups, out_channels = w.group_out * w.groups;
  const uint32_t out_height = (height + w.top + w.bottom - w.kernel_height) / w.stride_height + 1;
  const uint32_t out_width = (width + w.left + w.right - w.kernel_width) / w.stride_width + 1;
  std::vector<float> out;
  for (uint32_t oy = 0; oy < out_height; ++oy) {
    for (uint32_t ox = 0; ox < out_width; ++ox) {
      for (uint32_t oc = 0; oc < out_channels; ++oc) {
        float sum = bias[oc];
        for (uint32_t ky = 0; ky < w.kernel_height; ++ky) {
          for (uint32_t kx = 0; kx < w.kernel_width; ++kx) {
            const uint32_t iy = oy * w.stride_height + ky - w.top;
            const uint32_t ix = ox * w.stride_width + kx - w.left;
            if (iy >= height || ix >= width) continue;  // unsigned: above and left, too
            for (uint32_t ic = 0; ic < w.group_in; ++ic) {
              const uint32_t c = oc / w.group_out * w.group_in + ic;
              sum += in[(iy * width + ix) * in_channels + c] *
                     filter[((oc * w.kernel_height + ky) * w.kernel_width + kx) * w.group_in + ic];
            }
          }
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

TEST_F(NodesTest, ConvolutionWithGroupsStrideAndPadding) {
  WindowSpec w;
  w.top = w.left = w.bottom = 1;
  w.right = 2;
  w.kernel_height = 3;
  w.kernel_width = 2;
  w.stride_height = 2;
  w.group_in = 2;
  w.group_out = 3;
  w.groups = 2;
  const std::vector<float> in = ramp(5 * 4 * 4, -3, 0.25f), filter = ramp(6 * 3 * 2 * 2, -2, 0.1f);
  const std::vector<float> bias = ramp(6, 1);
  BlobBuilder b;
  const uint32_t x = b.input({1, 5, 4, 4}), y = b.output({1, 3, 6, 6});
  b.convolution(Tag::XNNConv2d, w, x, b.constant({6, 3, 2, 2}, filter), b.constant({6}, bias), y);
  EXPECT_THAT(run_one(b, {1, 5, 4, 4}, in, {1, 3, 6, 6}),
              Pointwise(FloatNear(1e-3f), convolve(in, 5, 4, filter, bias, w)));
}

TEST_F(NodesTest, DepthwiseConvolutionKeepsChannelsLastInItsFilter) {
  WindowSpec w;
  w.kernel_height = w.kernel_width = 2;
  w.groups = 3;
  const std::vector<float> in = ramp(3 * 3 * 3), by_channel = ramp(3 * 2 * 2, 1);
  std::vector<float> filter(12);  // [1, kh, kw, channel] from [channel, kh, kw]
  for (size_t c = 0; c < 3; ++c) {
    for (size_t k = 0; k < 4; ++k) filter[k * 3 + c] = by_channel[c * 4 + k];
  }
  BlobBuilder b;
  const uint32_t x = b.input({1, 3, 3, 3}), y = b.output({1, 2, 2, 3});
  b.convolution(Tag::XNNDepthwiseConv2d, w, x, b.constant({1, 2, 2, 3}, filter), kInvalidId, y);
  EXPECT_THAT(run_one(b, {1, 3, 3, 3}, in, {1, 2, 2, 3}),
              Pointwise(FloatNear(1e-3f), convolve(in, 3, 3, by_channel, {0, 0, 0}, w)));
}

TEST_F(NodesTest, TransposedConvolutionSpreadsItsInput) {
  WindowSpec w;
  w.kernel_height = w.kernel_width = 2;
  w.stride_height = w.stride_width = 2;
  BlobBuilder b;
  const uint32_t x = b.input({1, 1, 2, 1}), y = b.output({1, 2, 4, 1});
  b.convolution(Tag::XNNConvTranspose2d, w, x, b.constant<float>({1, 2, 2, 1}, {1, 2, 3, 4}),
                kInvalidId, y);
  EXPECT_THAT(run_one(b, {1, 1, 2, 1}, {1, 10}, {1, 2, 4, 1}),
              ElementsAre(1, 2, 10, 20, 3, 4, 30, 40));
}

// XNNPACK's fusion of clamps would turn the padding into nonsense here.
TEST_F(NodesTest, ClampAwayFromZeroAfterAPaddedConvolution) {
  WindowSpec w;
  w.top = w.right = w.bottom = w.left = 1;
  w.kernel_height = w.kernel_width = 3;
  BlobBuilder b;
  const uint32_t x = b.input({1, 2, 2, 1}), y = b.internal({1, 2, 2, 1}),
                 z = b.output({1, 2, 2, 1});
  b.convolution(Tag::XNNConv2d, w, x, b.constant({1, 3, 3, 1}, std::vector<float>(9, 1)),
                kInvalidId, y);
  b.clamp(y, z, {11, 20});
  EXPECT_THAT(run_one(b, {1, 2, 2, 1}, {1, 2, 3, 4}, {1, 2, 2, 1}), ElementsAre(11, 11, 11, 11));
}

TEST_F(NodesTest, Poolings) {
  WindowSpec w;
  w.kernel_height = w.kernel_width = 2;
  w.stride_height = w.stride_width = 2;
  BlobBuilder b;
  const uint32_t x = b.input({1, 2, 4, 1});
  const uint32_t max = b.output({1, 1, 2, 1}), average = b.output({1, 1, 2, 1});
  const uint32_t global = b.output({1, 1, 1, 1}), flat = b.output({1, 1});
  const uint32_t best = b.output({1, 1, 2, 1});
  const uint32_t index = b.output({1, 1, 2, 1}, Type::xnn_datatype_int32);
  b.pooling(Tag::XNNMaxPooling2d, w, x, max);
  WindowSpec undilated = w;
  undilated.dilation_height = undilated.dilation_width = 0;  // as it is written
  b.pooling(Tag::XNNAvgPooling2d, undilated, x, average, /*flags: keep dims=*/0x40);
  b.unary(Tag::XNNGlobalAvgPooling2d, x, global, /*flags=*/0x40);
  b.unary(Tag::XNNGlobalAvgPooling2d, x, flat);
  b.argmax(w, x, best, index);
  load(b);
  ASSERT_TRUE(delegate);
  std::vector<Tensor*> tensors = {&factory.make<float>({1, 2, 4, 1}, {1, 2, 5, 4, 3, 0, 1, 2}),
                                  &factory.make(ScalarType::kFloat, {1, 1, 2, 1}),
                                  &factory.make(ScalarType::kFloat, {1, 1, 2, 1}),
                                  &factory.make(ScalarType::kFloat, {1, 1, 1, 1}),
                                  &factory.make(ScalarType::kFloat, {1, 1}),
                                  &factory.make(ScalarType::kFloat, {1, 1, 2, 1}),
                                  &factory.make(ScalarType::kLong, {1, 1, 2, 1})};
  run(tensors);
  EXPECT_THAT(values_of<float>(*tensors[1]), ElementsAre(3, 5));
  EXPECT_THAT(values_of<float>(*tensors[2]), ElementsAre(1.5f, 3));
  EXPECT_THAT(values_of<float>(*tensors[3]), ElementsAre(2.25f));
  EXPECT_THAT(values_of<float>(*tensors[4]), ElementsAre(2.25f));
  EXPECT_THAT(values_of<float>(*tensors[5]), ElementsAre(3, 5));
  // XNNPACK counts down the columns of a window, and 32-bit indices were widened in place.
  EXPECT_THAT(values_of<int64_t>(*tensors[6]), ElementsAre(1, 0));
}

TEST_F(NodesTest, Softmax) {
  BlobBuilder b;
  const uint32_t x = b.input({2, 2}), y = b.output({2, 2});
  b.unary(Tag::XNNSoftmax, x, y);
  const float e = std::exp(1.0f);
  EXPECT_THAT(run_one(b, {2, 2}, {0, 1, 5, 5}, {2, 2}),
              Pointwise(FloatNear(1e-6f), {1 / (1 + e), e / (1 + e), 0.5f, 0.5f}));
}

TEST_F(NodesTest, DataMovement) {
  BlobBuilder b;
  const uint32_t x = b.input({2, 3});
  const uint32_t transposed = b.output({3, 2}), reshaped = b.output({3, 1, 2});
  const uint32_t sliced = b.output({1, 2}), padded = b.output({3, 4}), joined = b.output({2, 6});
  b.transpose({1, 0}, x, transposed);
  b.reshape({3, 1, 0}, x, reshaped);
  b.slice({1, 1}, {1, 2}, x, sliced);
  b.pad({1, 0}, {0, 1}, 9, x, padded);
  b.concatenate(Tag::XNNConcatenate2, 1, {x, x}, joined);
  load(b);
  ASSERT_TRUE(delegate);
  std::vector<Tensor*> tensors = {
      &factory.make<float>({2, 3}, {1, 2, 3, 4, 5, 6}), &factory.make(ScalarType::kFloat, {3, 2}),
      &factory.make(ScalarType::kFloat, {3, 1, 2}),     &factory.make(ScalarType::kFloat, {1, 2}),
      &factory.make(ScalarType::kFloat, {3, 4}),        &factory.make(ScalarType::kFloat, {2, 6})};
  run(tensors);
  EXPECT_THAT(values_of<float>(*tensors[1]), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(values_of<float>(*tensors[2]), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values_of<float>(*tensors[3]), ElementsAre(5, 6));
  EXPECT_THAT(values_of<float>(*tensors[4]), ElementsAre(9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6, 9));
  EXPECT_THAT(values_of<float>(*tensors[5]), ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
}

TEST_F(NodesTest, ConcatenatesThreeToFive) {
  for (const uint32_t count : {3u, 4u, 5u}) {
    BlobBuilder b;
    const uint32_t x = b.input({1, 2}), y = b.output({count, 2});
    const Tag tags[] = {Tag::XNNConcatenate3, Tag::XNNConcatenate4, Tag::XNNConcatenate5};
    b.concatenate(tags[count - 3], 0, std::vector<uint32_t>(count, x), y);
    std::vector<float> expected;
    for (uint32_t i = 0; i < count; ++i) expected.insert(expected.end(), {1, 2});
    EXPECT_EQ(run_one(b, {1, 2}, {1, 2}, {static_cast<int32_t>(count), 2}), expected);
  }
}

// Rows of 1 to 16 bytes are copied by a loop of ours, others by XNNPACK.
TEST_F(NodesTest, ConcatenatesShortRows) {
  for (const int32_t width : {1, 2, 3, 4, 5}) {
    BlobBuilder b;
    const auto size = static_cast<uint32_t>(width);
    const uint32_t x = b.input({9, size}), y = b.output({9, 3 * size});
    b.concatenate(Tag::XNNConcatenate3, 1, {x, x, x}, y);
    load(b);
    ASSERT_TRUE(delegate);
    for (const int32_t rows : {7, 9, 1}) {
      SCOPED_TRACE(testing::Message() << rows << " rows of " << width);
      const std::vector<float> in = ramp(static_cast<size_t>(rows * width), 1);
      std::vector<float> expected;
      for (auto row = in.begin(); row != in.end(); row += width) {
        for (int copy = 0; copy < 3; ++copy) expected.insert(expected.end(), row, row + width);
      }
      Tensor& out = factory.make(ScalarType::kFloat, {rows, 3 * width});
      run({&factory.make<float>({rows, width}, in), &out});
      EXPECT_EQ(values_of<float>(out), expected);
    }
  }
}

TEST_F(NodesTest, ResizeBilinearAlignsCorners) {
  BlobBuilder b;
  const uint32_t x = b.input({1, 1, 2, 1}), y = b.output({1, 1, 3, 1});
  b.resize(1, 3, x, y, /*flags: align corners=*/8);
  EXPECT_THAT(run_one(b, {1, 1, 2, 1}, {1, 3}, {1, 1, 3, 1}), ElementsAre(1, 2, 3));
}

TEST_F(NodesTest, ConstantsComeFromAllThreePlaces) {
  for (const auto where : {BlobBuilder::Constants::kInFlatbuffer, BlobBuilder::Constants::kInRegion,
                           BlobBuilder::Constants::kNamed}) {
    BlobBuilder b(where);
    const uint32_t x = b.input({1, 3}), y = b.internal({1, 2}), z = b.output({1, 2});
    b.fully_connected(x, b.constant<float>({2, 3}, {1, 2, 3, -1, -1, -1}), kInvalidId, y);
    b.binary(Tag::XNNMultiply, y, b.constant<float>({2}, {2, 10}), z);
    const BuilderData data(b);
    named_data = where == BlobBuilder::Constants::kNamed ? &data : nullptr;
    EXPECT_THAT(run_one(b, {1, 3}, {2, 3, 4}, {1, 2}), ElementsAre(40, -90));
    named_data = nullptr;
  }
}

TEST_F(NodesTest, ChannelsLastArgumentsAreSeenAsNhwc) {
  BlobBuilder b;
  const uint32_t x = b.input({1, 1, 2, 3}), y = b.output({1, 1, 2, 3});
  b.binary(Tag::XNNAdd, x, b.constant<float>({3}, {10, 20, 30}), y);
  load(b);
  ASSERT_TRUE(delegate);
  const std::vector<uint8_t> channels_last = {0, 2, 3, 1};
  Tensor& out = factory.make(ScalarType::kFloat, {1, 3, 1, 2}, channels_last);
  run({&factory.make<float>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6}, channels_last), &out});
  EXPECT_THAT(values_of<float>(out), ElementsAre(11, 22, 33, 14, 25, 36));
}

TEST_F(NodesTest, RankZeroIsOneElement) {
  BlobBuilder b;
  const uint32_t x = b.input({1}), y = b.output({1});
  b.unary(Tag::XNNNegate, x, y);
  EXPECT_THAT(run_one(b, {}, {3}, {}), ElementsAre(-3));
}

TEST_F(NodesTest, NodesThatNobodyNeedsAreLeftOut) {
  BlobBuilder b;
  const uint32_t x = b.input({2}), y = b.output({2}), unused = b.internal({2});
  b.unary(Tag::XNNExp, x, unused);
  b.unary(Tag::XNNNegate, x, y);
  EXPECT_THAT(run_one(b, {2}, {1, 2}, {2}), ElementsAre(-1, -2));
}

TEST_F(NodesTest, BatchMayChangeFromCallToCall) {
  BlobBuilder b;
  const uint32_t x = b.input({8, 3}), y = b.internal({8, 2}), z = b.output({8, 2});
  b.fully_connected(x, b.constant<float>({2, 3}, {1, 2, 3, -1, -1, -1}), kInvalidId, y);
  b.clamp(y, z, {0, 1000});
  load(b);
  ASSERT_TRUE(delegate);
  Tensor& out = factory.make(ScalarType::kFloat, {8, 2}, {}, ShapeDynamism::kDynamicBound);
  for (const int32_t batch : {2, 8, 1, 5}) {
    run({&factory.make({batch, 3}, ramp(static_cast<size_t>(batch) * 3)), &out});
    ASSERT_EQ(out.size(0), batch);
    const std::vector<float> values = values_of<float>(out);
    for (size_t i = 0; i < static_cast<size_t>(batch); ++i) {
      // n + 2 (n + 1) + 3 (n + 2), where n = 3 i.
      EXPECT_EQ(values[2 * i], 18.0f * static_cast<float>(i) + 8);
      EXPECT_EQ(values[2 * i + 1], 0);
    }
  }
}

}  // namespace
}  // namespace vitrine::test
