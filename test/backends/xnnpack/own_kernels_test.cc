// Tests delegated operators for which Vitrine has kernels. Each test runs with Vitrine's kernels
// and with XNNPACK's, and compares the results with a formula.
#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/optimized/simd/gemm.h"
#include "test/backends/xnnpack/own_kernels_fixture.h"

namespace vitrine::test {
namespace {

// A depthwise convolution of whole numbers, whose sums f32 and f16 represent exactly.
struct Depthwise {
  const char* name;
  uint32_t channels;
  uint32_t height, width;
  WindowSpec window;
  uint32_t images = 1;
  Bounds bounds = {};

  Shape in_shape() const { return {images, height, width, channels}; }
  Shape out_shape() const {
    return {images, window.result_height(height), window.result_width(width), channels};
  }
};

float depthwise_pixel(size_t i) { return static_cast<float>(i * 7 % 11) - 5; }
float depthwise_weight(size_t i) { return static_cast<float>(i * 5 % 7) - 3; }
float depthwise_bias(size_t channel) { return static_cast<float>(channel % 5) - 2; }

float depthwise_sum(const Depthwise& c, const ImagePosition& at) {
  float sum = depthwise_bias(at.channel);
  const size_t first = at.image * c.height * c.width;
  c.window.for_each_pixel(c.height, c.width, at.y, at.x, [&](size_t pixel, size_t tap) {
    sum += depthwise_pixel((first + pixel) * c.channels + at.channel) *
           depthwise_weight(tap * c.channels + at.channel);
  });
  return std::clamp(sum, c.bounds.min, c.bounds.max);
}

const Depthwise kDepthwise[] = {
    {"Padded", 17, 9, 11, window_of(7, 7).padded(3)},
    {"SeveralImages", 64, 8, 8, window_of(7, 7).padded(3), 3},
    {"Strided", 100, 13, 12, window_of(6, 5).padded(2, 3, 4, 1).strided(2, 3)},
    {"Dilated", 3, 20, 30, window_of(7, 5).padded(6, 4, 6, 4).dilated(2, 3)},
    {"Clamped", 33, 10, 10, window_of(9, 9).padded(4), 1, {0, 60}},
    {"WindowAroundImage", 5, 2, 3, window_of(31, 31).padded(15)},
    {"Line", 40, 1, 50, window_of(1, 33).padded(0, 16, 0, 16)},
};

class OwnKernelsTest : public OwnKernelsFixture {
 protected:
  template <class T>
  void check(const Depthwise& c, Type type, std::string_view kernel) {
    SCOPED_TRACE(c.name);
    PayloadBuilder b;
    const uint32_t x = b.input(c.in_shape(), type), y = b.output(c.out_shape(), type);
    std::vector<T> in;
    std::vector<float> weights(size_t{c.window.kernel_height} * c.window.kernel_width * c.channels);
    std::vector<float> bias(c.channels);
    for (size_t i = 0; i < count_of(c.in_shape()); ++i) {
      in.push_back(static_cast<T>(depthwise_pixel(i)));
    }
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = depthwise_weight(i);
    for (size_t i = 0; i < bias.size(); ++i) bias[i] = depthwise_bias(i);
    WindowSpec window = c.window;
    window.groups = c.channels;
    b.convolution(
        Tag::XNNDepthwiseConv2d, window, x,
        b.constant<float>({1, window.kernel_height, window.kernel_width, c.channels}, weights),
        b.constant<float>({c.channels}, bias), y, c.bounds);
    const std::vector<T> out = result(b, c.in_shape(), in, c.out_shape(), kernel);
    for (size_t i = 0; i < out.size(); ++i) {
      const float sum = depthwise_sum(c, position_in(c.out_shape(), i));
      ASSERT_EQ(static_cast<float>(out[i]), sum) << "element " << i;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(WithAndWithout, OwnKernelsTest, testing::Bool());

TEST_P(OwnKernelsTest, F32DepthwiseConvolutionsMatchDirectSums) {
  for (const Depthwise& c : kDepthwise) {
    check<float>(c, Type::xnn_datatype_fp32, "Vitrine Depthwise Convolution (NHWC, F32)");
    if (HasFatalFailure()) return;
  }
}

TEST_P(OwnKernelsTest, F16DepthwiseConvolutionsMatchDirectSums) {
  for (const Depthwise& c : kDepthwise) {
    check<Half>(c, Type::xnn_datatype_fp16, "Vitrine Depthwise Convolution (NHWC, F16)");
    if (HasFatalFailure() || IsSkipped()) return;
  }
}

TEST_P(OwnKernelsTest, SoftmaxMatchesFormulaForRowsOfAnyLength) {
  constexpr uint32_t kRows = 5;
  for (const uint32_t length : {1U, 7U, 8U, 15U, 16U, 17U, 31U, 32U, 33U, 64U, 65U, 300U, 5000U}) {
    SCOPED_TRACE(length);
    PayloadBuilder b;
    const Shape shape{kRows, length};
    const uint32_t x = b.input(shape), y = b.output(shape);
    b.unary(Tag::XNNSoftmax, x, y);
    std::vector<float> in(size_t{kRows} * length);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 37 % 101) / 10 - 5;
    const int64_t lanes = optimized::simd::gemm_shape().lanes;
    const bool is_ours = lanes < 16 || length <= 4 * lanes;
    const std::vector<float> out =
        result(b, shape, in, shape, is_ours ? "Vitrine Softmax (NC, F32)" : "");
    for (size_t row = 0; row < kRows && !out.empty(); ++row) {
      double sum = 0;
      for (size_t i = 0; i < length; ++i) sum += std::exp(double{in[row * length + i]});
      for (size_t i = 0; i < length; ++i) {
        const double expected = std::exp(double{in[row * length + i]}) / sum;
        ASSERT_NEAR(out[row * length + i], expected, expected * 2e-6);
      }
    }
  }
}

TEST_P(OwnKernelsTest, SubtractingARepeatedRowIsExact) {
  struct Case {
    Shape a, b;
    bool is_ours;
  };
  for (const Case& c : {Case{{7, 3}, {3}, true},
                        {{2, 5, 301, 5}, {1, 1, 1, 5}, true},
                        {{64}, {50, 64}, true},
                        {{9, 65}, {65}, false},
                        {{3, 8}, {8}, false},
                        {{2, 9, 4}, {2, 1, 4}, false}}) {
    SCOPED_TRACE(testing::PrintToString(std::pair(c.a, c.b)));
    const Shape& shape = c.a.size() >= c.b.size() ? c.a : c.b;
    PayloadBuilder b;
    const uint32_t x = b.input(c.a), y = b.input(c.b), out = b.output(shape);
    b.binary(Tag::XNNSubtract, x, y, out);
    std::vector<float> left(count_of(c.a)), right(count_of(c.b));
    for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<float>(i * 7 % 101);
    for (size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(i * 5 % 37);
    constexpr std::string_view kKernel = "Vitrine Binary Elementwise with a Repeated Row (ND)";
    const std::vector<float> found =
        result<float>(b, {{c.a, left}, {c.b, right}}, shape, c.is_ours ? kKernel : "",
                      xnnpack::OwnKernels::have(kKernel));
    const bool has_row = c.b != Shape{2, 1, 4};
    for (size_t i = 0; i < found.size(); ++i) {
      const size_t j = has_row ? i % right.size() : i / 36 * 4 + i % 4;
      ASSERT_EQ(found[i], left[i % left.size()] - right[j]) << "element " << i;
    }
  }
}

struct Function {
  Tag tag;
  std::string_view kernel;
  double (*formula)(double);
  float step;  // between inputs, which lie around 0
  double relative_error;
  double absolute_error;
};

TEST_P(OwnKernelsTest, ExpSinAndCosMatchTheStandardLibrary) {
  // For exponents near 80, the relative error of XNNPACK 92a7ad5 reaches 3.7e-6. The relative
  // errors of XNNPACK 4ea82e5 and of Vitrine's kernel are 1e-7.
  const double exponential = GetParam() && xnnpack::OwnKernels::are_built() ? 1e-6 : 5e-6;
  const Function functions[] = {
      {Tag::XNNExp, "Vitrine Exponential (NC, F32)", &std::exp, 0.1F, exponential, 0},
      {Tag::XNNSin, "Vitrine Sine (NC, F32)", &std::sin, 0.3F, 1e-6, 3e-7},
      {Tag::XNNCos, "Vitrine Cosine (NC, F32)", &std::cos, 0.3F, 1e-6, 3e-7},
  };
  for (const Function& function : functions) {
    for (const uint32_t length : {1U, 15U, 16U, 100U, 3000U}) {
      SCOPED_TRACE(std::string(function.kernel) + " of " + std::to_string(length));
      PayloadBuilder b;
      const Shape shape{3, length};
      const uint32_t x = b.input(shape), y = b.output(shape);
      b.unary(function.tag, x, y);
      std::vector<float> in(size_t{3} * length);
      for (size_t i = 0; i < in.size(); ++i) {
        in[i] = (static_cast<float>(i * 37 % 1601) - 800) * function.step;
      }
      const std::vector<float> out = result(b, shape, in, shape, function.kernel);
      for (size_t i = 0; i < out.size(); ++i) {
        const double expected = function.formula(double{in[i]});
        ASSERT_NEAR(out[i], expected,
                    std::abs(expected) * function.relative_error + function.absolute_error)
            << "of " << in[i];
      }
    }
  }
}

// A sigmoid and the product that reads it.
struct SigmoidProduct {
  const char* name;
  bool sigmoid_first = false;
  bool sigmoid_is_output = false;
  bool has_two_readers = false;
  bool has_other_factor = false;
  Bounds bounds = {};
  bool is_silu = false;
};

constexpr SigmoidProduct kSigmoidProducts[] = {
    {.name = "SigmoidSecond", .is_silu = true},
    {.name = "SigmoidFirst", .sigmoid_first = true, .is_silu = true},
    {.name = "SigmoidIsOutput", .sigmoid_is_output = true},
    {.name = "TwoReaders", .has_two_readers = true},
    {.name = "OtherFactor", .has_other_factor = true},
    {.name = "Bounded", .bounds = {-0.2F, 0.5F}},
};

TEST_P(OwnKernelsTest, SiluRunsInOnePassIfNoOtherNodeReadsTheSigmoid) {
  for (const SigmoidProduct& c : kSigmoidProducts) {
    for (const uint32_t length : {1U, 16U, 1003U}) {
      SCOPED_TRACE(std::string(c.name) + " of " + std::to_string(length));
      PayloadBuilder b;
      const Shape shape{2, length};
      const uint32_t x = b.input(shape), y = b.input(shape), out = b.output(shape);
      const uint32_t sigmoid = c.sigmoid_is_output ? b.output(shape) : b.internal(shape);
      b.unary(Tag::XNNSigmoid, x, sigmoid);
      const uint32_t factor = c.has_other_factor ? y : x;
      const uint32_t product = b.internal(shape);
      b.binary(Tag::XNNMultiply, c.sigmoid_first ? sigmoid : factor,
               c.sigmoid_first ? factor : sigmoid, product, c.bounds);
      b.binary(Tag::XNNAdd, product, c.has_two_readers ? sigmoid : y, out);

      RecordingTracer recorded;
      tracer = &recorded;
      load(b);
      std::vector<float> in(size_t{2} * length), added(in.size());
      for (size_t i = 0; i < in.size(); ++i) {
        in[i] = (static_cast<float>(i * 37 % 401) - 200) / 10;
        added[i] = static_cast<float>(i % 7);
      }
      Tensor& result = factory.make(ScalarType::kFloat, sizes_of(shape));
      std::vector<Tensor*> arguments = {&factory.make<float>(sizes_of(shape), in),
                                        &factory.make<float>(sizes_of(shape), added), &result};
      Tensor& sigmoids = factory.make(ScalarType::kFloat, sizes_of(shape));
      if (c.sigmoid_is_output) arguments.push_back(&sigmoids);
      run(arguments);
      tracer = nullptr;
      EXPECT_EQ(recorded.has_run("Vitrine SiLU (NC, F32)"),
                c.is_silu && GetParam() && xnnpack::OwnKernels::are_built());
      for (size_t i = 0; i < in.size(); ++i) {
        const double each = 1 / (1 + std::exp(-double{in[i]}));
        const double times = c.has_other_factor ? added[i] : in[i];
        const double bounded = std::clamp(each * times, double{c.bounds.min}, double{c.bounds.max});
        const double plus = c.has_two_readers ? each : added[i];
        ASSERT_NEAR(result.data<float>()[i], bounded + plus, 1e-6 * (std::abs(bounded) + plus));
        if (c.sigmoid_is_output) {
          ASSERT_NEAR(sigmoids.data<float>()[i], each, 1e-6);
        }
      }
    }
  }
}

TEST_F(DelegateTest, FusedSiluEqualsSigmoidTimesInputBitForBit) {
  constexpr uint32_t kLength = 3001;  // several blocks and a rest
  std::vector<float> in(kLength);
  for (size_t i = 0; i < in.size(); ++i) in[i] = (static_cast<float>(i * 37 % 1601) - 800) / 9;
  std::vector<std::vector<float>> results;
  for (const bool own : {true, false}) {
    set_option("vitrine_kernels", own);
    PayloadBuilder b;
    const uint32_t x = b.input({kLength}), out = b.output({kLength});
    const uint32_t copy = b.internal({kLength}), sigmoid = b.internal({kLength});
    b.unary(Tag::XNNAbs, x, copy);  // the product may overwrite its input
    b.unary(Tag::XNNSigmoid, copy, sigmoid);
    b.binary(Tag::XNNMultiply, copy, sigmoid, out);
    load(b);
    Tensor& result = factory.make(ScalarType::kFloat, {kLength});
    run({&factory.make<float>({kLength}, in), &result});
    results.push_back(values_of<float>(result));
  }
  EXPECT_EQ(results[0], results[1]);
}

// A product of two inputs, whose elements are whole numbers.
struct InputProduct {
  Shape left, right;        // the last two sizes are those of a matrix
  std::string_view kernel;  // ours, or empty if XNNPACK's computes it in any case
  int64_t lanes = 0;        // if not 0, our kernel runs only with vectors of this many floats
};

const InputProduct kInputProducts[] = {
    {{1, 64, 32}, {1, 32, 1}, "Vitrine Matrix-Vector Product (NC, F32)"},
    {{16, 100, 33}, {16, 33, 1}, "Vitrine Matrix-Vector Product (NC, F32)"},
    {{3, 1, 5}, {3, 5, 64}, "Vitrine Matrix Product (NC, F32)"},
    {{2, 3, 7, 20}, {2, 3, 20, 128}, "Vitrine Matrix Product (NC, F32)"},
    {{2, 3, 16, 9}, {2, 1, 9, 192}, "Vitrine Matrix Product (NC, F32)"},
    {{1, 3, 11, 9}, {2, 3, 9, 320}, "Vitrine Matrix Product (NC, F32)"},
    {{2, 33, 9}, {2, 9, 64}, "Vitrine Matrix Product (NC, F32)", 16},
    {{1, 129, 9}, {1, 9, 16}, "Vitrine Matrix Product (NC, F32)", 16},
    {{1, 128, 9}, {1, 9, 64}, "Vitrine Matrix Product (NC, F32)", 16},
    {{2, 129, 9}, {2, 9, 64}, ""},
    {{2, 4, 9}, {2, 9, 63}, ""},
};

TEST_P(OwnKernelsTest, ProductsOfTwoInputsMatchDirectSums) {
  for (const InputProduct& c : kInputProducts) {
    const size_t rank = c.left.size();
    const size_t rows = c.left[rank - 2], depth = c.left[rank - 1], columns = c.right[rank - 1];
    Shape shape = c.left;
    for (size_t i = 0; i + 2 < rank; ++i) shape[i] = std::max(c.left[i], c.right[i]);
    shape[rank - 1] = c.right[rank - 1];
    const size_t batches = count_of(shape) / rows / columns;
    SCOPED_TRACE(testing::PrintToString(c.left) + " x " + testing::PrintToString(c.right));
    PayloadBuilder b;
    const uint32_t left = b.input(c.left), right = b.input(c.right), out = b.output(shape);
    b.binary(Tag::XNNBatchMatrixMultiply, left, right, out);
    const auto values = [](const Shape& sizes, size_t step) {
      std::vector<float> result(count_of(sizes));
      for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<float>(i * step % 13) - 6;
      return result;
    };
    const std::vector<float> l = values(c.left, 5), r = values(c.right, 7);
    const bool fits = c.lanes == 0 || c.lanes == optimized::simd::gemm_shape().lanes;
    const std::vector<float> found =
        result<float>(b, {{c.left, l}, {c.right, r}}, shape, fits ? c.kernel : "",
                      xnnpack::OwnKernels::are_built());
    for (size_t at = 0; at < found.size(); ++at) {
      const size_t column = at % columns, row = at / columns % rows;
      size_t left_index = 0, right_index = 0;
      for (size_t i = 0, rest = at / columns / rows, below = batches; i + 2 < rank; ++i) {
        below /= shape[i];
        left_index = left_index * c.left[i] + rest / below % c.left[i];
        right_index = right_index * c.right[i] + rest / below % c.right[i];
        rest %= below;
      }
      float sum = 0;
      for (size_t k = 0; k < depth; ++k) {
        sum += l[(left_index * rows + row) * depth + k] *
               r[(right_index * depth + k) * columns + column];
      }
      ASSERT_EQ(found[at], sum) << "element " << at;
    }
  }
}

// A product of rows and constant weights, which are whole numbers.
struct ConstantProduct {
  uint32_t rows, columns;
  bool is_ours;  // with vectors of 16 floats
  Bounds bounds = {};
};

const ConstantProduct kConstantProducts[] = {
    {1, 64, false}, {2, 33, true},   {3, 100, true}, {4, 64, true, {-50, 60}},
    {7, 64, false}, {8, 16, true},   {9, 31, true},  {11, 65, true, {0, 20}},
    {12, 3, false}, {15, 200, true}, {17, 96, true}, {64, 40, true, {-20, 1000}},
    {65, 40, false}};

TEST_P(OwnKernelsTest, ProductsWithConstantWeightsMatchDirectSums) {
  // With more input channels, Vitrine would use another kernel for the convolution with three
  // output channels.
  constexpr uint32_t kDepth = 11;
  const auto input = [](size_t row, size_t k) { return static_cast<float>((row * 7 + k) % 5) - 2; };
  const auto weight = [](size_t c, size_t k) { return static_cast<float>((c + k * 3) % 7) - 3; };
  for (const bool is_convolution : {false, true}) {
    const std::string_view kernel = is_convolution ? "Vitrine Pointwise Convolution (NHWC, F32)"
                                                   : "Vitrine Fully Connected (NC, F32)";
    for (const ConstantProduct& c : kConstantProducts) {
      SCOPED_TRACE(std::string(kernel) + ": " + std::to_string(c.rows) + " rows, " +
                   std::to_string(c.columns) + " columns");
      std::vector<float> in, weights, bias;
      for (size_t row = 0; row < c.rows; ++row) {
        for (size_t k = 0; k < kDepth; ++k) in.push_back(input(row, k));
      }
      for (size_t column = 0; column < c.columns; ++column) {
        bias.push_back(static_cast<float>(column % 4));
        for (size_t k = 0; k < kDepth; ++k) weights.push_back(weight(column, k));
      }
      PayloadBuilder b;
      const Shape in_shape = is_convolution ? Shape{1, 1, c.rows, kDepth} : Shape{c.rows, kDepth};
      const Shape shape =
          is_convolution ? Shape{1, 1, c.rows, c.columns} : Shape{c.rows, c.columns};
      const uint32_t x = b.input(in_shape), y = b.output(shape);
      const uint32_t offsets = b.constant<float>({c.columns}, bias);
      if (is_convolution) {
        b.convolution(Tag::XNNConv2d, window_of(1, 1, kDepth, c.columns), x,
                      b.constant<float>({c.columns, 1, 1, kDepth}, weights), offsets, y, c.bounds);
      } else {
        b.fully_connected(x, b.constant<float>({c.columns, kDepth}, weights), offsets, y, 0,
                          c.bounds);
      }
      // If a convolution has two pixels, XNNPACK's kernel runs. It computes one pixel at a time.
      const bool is_ours = c.is_ours && optimized::simd::gemm_shape().lanes == 16 &&
                           !(is_convolution && c.rows == 2);
      const std::vector<float> out = result(b, in_shape, in, shape, is_ours ? kernel : "");
      for (size_t i = 0; i < out.size(); ++i) {
        const size_t row = i / c.columns, column = i % c.columns;
        float sum = bias[column];
        for (size_t k = 0; k < kDepth; ++k) sum += input(row, k) * weight(column, k);
        ASSERT_EQ(out[i], std::clamp(sum, c.bounds.min, c.bounds.max)) << "element " << i;
      }
    }
  }
}

TEST_F(DelegateTest, LargeDepthwiseWindowsPackWeightsOnlyForVitrinesKernel) {
  if (!xnnpack::OwnKernels::are_built()) GTEST_SKIP() << "this build lacks kernels for delegates";
  PayloadBuilder b;
  const uint32_t x = b.input({1, 8, 8, 16}), y = b.output({1, 2, 2, 16});
  b.convolution(Tag::XNNDepthwiseConv2d, {.kernel_height = 7, .kernel_width = 7, .groups = 16}, x,
                b.constant<float>({1, 7, 7, 16}, std::vector<float>(7 * 7 * 16)), kInvalidId, y);
  load(b);
  EXPECT_EQ(memory_bytes(DelegateMemory::Kind::kPackedWeights), (1 + 7 * 7) * 16 * sizeof(float));
}

}  // namespace
}  // namespace vitrine::test
