// Tests convolution against its definition, over dimensions, windows, groups, dtypes and memory
// formats.

#include <random>

#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

struct Case {
  const char* name;
  std::vector<int32_t> input;   // [N, C, spatial...]
  std::vector<int32_t> weight;  // [Cout, C / groups, k...]; transposed: [C, Cout / groups, k...]
  std::vector<int64_t> stride;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  std::vector<int64_t> output_padding;
  bool transposed;
  int64_t groups;
  bool bias;
};

std::ostream& operator<<(std::ostream& stream, const Case& test) { return stream << test.name; }

// A row-major tensor of up to three spatial dimensions.
struct Array {
  std::vector<int32_t> sizes;  // always 5
  std::vector<double> values;

  explicit Array(const std::vector<int32_t>& shape) : sizes(shape) {
    while (sizes.size() < 5) sizes.insert(sizes.begin() + 2, 1);
    size_t count = 1;
    for (const int32_t size : sizes) count *= static_cast<size_t>(size);
    values.resize(count);
  }
  size_t index_of(int a, int b, int z, int y, int x) const {
    return static_cast<size_t>((((a * sizes[1] + b) * sizes[2] + z) * sizes[3] + y) * sizes[4] + x);
  }
  double& at(int a, int b, int z, int y, int x) { return values[index_of(a, b, z, y, x)]; }
};

int number(const std::vector<int64_t>& list, size_t spatial, size_t dim, int otherwise) {
  if (dim + spatial < 3) return otherwise;
  return static_cast<int>(list.size() == 1 ? list[0] : list[dim - (3 - spatial)]);
}

// Computes a convolution from its definition: gathers elements, or scatters them if the convolution
// is transposed.
Array reference(const Case& test, Array input, Array weight, const std::vector<double>& bias,
                Array out) {
  const size_t spatial = test.input.size() - 2;
  int s[3], p[3], d[3];
  for (size_t i = 0; i < 3; ++i) {
    s[i] = number(test.stride, spatial, i, 1);
    p[i] = number(test.padding, spatial, i, 0);
    d[i] = number(test.dilation, spatial, i, 1);
  }
  const int groups = static_cast<int>(test.groups);
  const int in_channels = input.sizes[1] / groups;
  const int out_channels = out.sizes[1] / groups;
  for (int n = 0; n < out.sizes[0]; ++n)
    for (int c = 0; c < out.sizes[1]; ++c)
      for (int z = 0; z < out.sizes[2]; ++z)
        for (int y = 0; y < out.sizes[3]; ++y)
          for (int x = 0; x < out.sizes[4]; ++x)
            out.at(n, c, z, y, x) = bias.empty() ? 0 : bias[static_cast<size_t>(c)];
  // `small` has one element for each window of `large`. If the convolution is transposed, `small`
  // is the input and `large` is the output.
  Array& small = test.transposed ? input : out;
  Array& large = test.transposed ? out : input;
  for (int n = 0; n < out.sizes[0]; ++n)
    for (int g = 0; g < groups; ++g)
      for (int ci = 0; ci < in_channels; ++ci)
        for (int co = 0; co < out_channels; ++co)
          for (int z = 0; z < small.sizes[2]; ++z)
            for (int y = 0; y < small.sizes[3]; ++y)
              for (int x = 0; x < small.sizes[4]; ++x)
                for (int kz = 0; kz < weight.sizes[2]; ++kz)
                  for (int ky = 0; ky < weight.sizes[3]; ++ky)
                    for (int kx = 0; kx < weight.sizes[4]; ++kx) {
                      const int lz = z * s[0] - p[0] + kz * d[0];
                      const int ly = y * s[1] - p[1] + ky * d[1];
                      const int lx = x * s[2] - p[2] + kx * d[2];
                      if (lz < 0 || ly < 0 || lx < 0 || lz >= large.sizes[2] ||
                          ly >= large.sizes[3] || lx >= large.sizes[4]) {
                        continue;
                      }
                      const int i = g * in_channels + ci;
                      const int o = g * out_channels + co;
                      if (test.transposed) {
                        out.at(n, o, lz, ly, lx) +=
                            input.at(n, i, z, y, x) * weight.at(i, co, kz, ky, kx);
                      } else {
                        out.at(n, o, z, y, x) +=
                            input.at(n, i, lz, ly, lx) * weight.at(o, ci, kz, ky, kx);
                      }
                    }
  return out;
}

std::vector<int32_t> output_shape(const Case& test) {
  const size_t spatial = test.input.size() - 2;
  std::vector<int32_t> shape = test.input;
  shape[1] = test.transposed ? test.weight[1] * static_cast<int32_t>(test.groups) : test.weight[0];
  for (size_t i = 0; i < spatial; ++i) {
    const size_t dim = 3 - spatial + i;
    const int s = number(test.stride, spatial, dim, 1);
    const int p = number(test.padding, spatial, dim, 0);
    const int d = number(test.dilation, spatial, dim, 1);
    const int reach = d * (test.weight[2 + i] - 1);
    shape[2 + i] = test.transposed ? (test.input[2 + i] - 1) * s - 2 * p + reach +
                                         number(test.output_padding, spatial, dim, 0) + 1
                                   : (test.input[2 + i] + 2 * p - reach - 1) / s + 1;
  }
  return shape;
}

class Convolution : public testing::TestWithParam<Case> {
 protected:
  // Makes a tensor with the array's values. The tensor is channels-last if requested.
  template <class T>
  Tensor& tensor(const std::vector<int32_t>& shape, const Array& array, bool channels_last) {
    std::vector<uint8_t> order;
    if (channels_last) {
      order.push_back(0);
      for (size_t i = 2; i < shape.size(); ++i) order.push_back(static_cast<uint8_t>(i));
      order.push_back(1);
    }
    Tensor& result = call.make(scalar_type_of<T>, shape, order);
    for (size_t i = 0; i < array.values.size(); ++i) {
      result.mutable_data<T>()[offset(result, i)] = T(static_cast<float>(array.values[i]));
    }
    return result;
  }

  static size_t offset(const Tensor& tensor, size_t index) {
    int64_t result = 0;
    for (size_t i = tensor.rank(); i-- > 0;) {
      const auto size = static_cast<size_t>(tensor.size(i));
      result += static_cast<int64_t>(index % size) * tensor.strides()[i];
      index /= size;
    }
    return static_cast<size_t>(result);
  }

  template <class T>
  void check(bool last_input, bool last_weight, bool last_out) {
    const Case& test = GetParam();
    std::mt19937 random(7);
    Array input(test.input);
    Array weight(test.weight);
    for (Array* array : {&input, &weight}) {
      for (double& value : array->values) value = static_cast<int>(random() % 5) - 2;
    }
    const std::vector<int32_t> shape = output_shape(test);
    std::vector<double> bias;
    if (test.bias) {
      for (int32_t i = 0; i < shape[1]; ++i) bias.push_back(i + 1);
    }
    const Array expected = reference(test, input, weight, bias, Array(shape));

    EValue bias_value;
    if (test.bias) {
      std::vector<T> values;
      for (const double value : bias) values.push_back(T(static_cast<float>(value)));
      bias_value = EValue(&call.make<T>({shape[1]}, values));
    }
    std::vector<uint8_t> order;
    Tensor& out = tensor<T>(shape, Array(shape), last_out);
    ASSERT_TRUE(
        succeeds(call.run("aten::convolution.out", tensor<T>(test.input, input, last_input),
                          tensor<T>(test.weight, weight, last_weight), bias_value,
                          call.ints(test.stride), call.ints(test.padding), call.ints(test.dilation),
                          test.transposed, call.ints(test.output_padding), test.groups, out)));
    for (size_t i = 0; i < expected.values.size(); ++i) {
      ASSERT_EQ(static_cast<double>(out.data<T>()[offset(out, i)]), expected.values[i]) << i;
    }
  }

  KernelCall call;
};

TEST_P(Convolution, MatchesReferenceInF32) { check<float>(false, false, false); }
TEST_P(Convolution, MatchesReferenceInChannelsLast) { check<float>(true, true, true); }
TEST_P(Convolution, MatchesReferenceInMixedMemoryFormats) { check<float>(true, false, false); }
TEST_P(Convolution, MatchesReferenceInF16) { check<vitrine::Half>(false, true, false); }
TEST_P(Convolution, MatchesReferenceInBf16) { check<vitrine::BFloat16>(true, false, true); }
TEST_P(Convolution, MatchesReferenceInF64) { check<double>(false, false, false); }
TEST_P(Convolution, MatchesReferenceInInt8) { check<int8_t>(false, false, false); }
TEST_P(Convolution, MatchesReferenceInInt64) { check<int64_t>(false, false, true); }

const std::vector<Case> kCases{
    Case{"pointwise", {2, 3, 5, 7}, {5, 3, 1, 1}, {1}, {0}, {1}, {0}, false, 1, true},
    Case{"single_pixels", {2, 6, 1, 1}, {10, 3, 1, 1}, {1}, {0}, {1}, {0}, false, 2, true},
    Case{"many_channels", {1, 70, 1, 1}, {37, 70, 1, 1}, {2}, {0}, {1}, {0}, false, 1, false},
    Case{"plain_1d", {1, 2, 9}, {3, 2, 3}, {2}, {1}, {1}, {0}, false, 1, true},
    Case{"plain_2d", {2, 3, 6, 5}, {4, 3, 3, 2}, {1, 2}, {1, 0}, {1, 1}, {0, 0}, false, 1, true},
    Case{"dilated", {1, 2, 9, 8}, {3, 2, 3, 3}, {2, 1}, {2, 1}, {3, 2}, {0, 0}, false, 1, false},
    Case{"depthwise", {1, 6, 7, 7}, {6, 1, 3, 3}, {2}, {1}, {1}, {0}, false, 6, true},
    Case{"groups", {1, 4, 5, 5}, {6, 2, 3, 3}, {1}, {1}, {1}, {0}, false, 2, true},
    Case{"plain_3d",
         {1, 2, 3, 4, 5},
         {3, 2, 2, 3, 2},
         {1, 2, 1},
         {0, 1, 1},
         {1, 1, 2},
         {0, 0, 0},
         false,
         1,
         true},
    Case{"transposed_1d", {1, 2, 4}, {2, 3, 3}, {2}, {1}, {1}, {1}, true, 1, true},
    Case{
        "transposed_2d", {2, 4, 3, 4}, {4, 2, 3, 2}, {2, 3}, {1, 0}, {1, 2}, {1, 0}, true, 2, true},
    Case{"transposed_3d", {1, 2, 2, 3, 2}, {2, 2, 2, 2, 3}, {2}, {0}, {1}, {0}, true, 1, false},
    Case{"padding_only_at_edges", {1, 1, 2, 2}, {1, 1, 2, 2}, {3}, {2}, {1}, {0}, false, 1, false}};

std::string name_of(const testing::TestParamInfo<Case>& parameter) { return parameter.param.name; }

INSTANTIATE_TEST_SUITE_P(Cases, Convolution, testing::ValuesIn(kCases), name_of);

class ConvolutionBackward : public Convolution {};

// A convolution is linear in its input and in its weight. If g is the gradient of the result, the
// inner products <result, g>, <input, gradient of input> and <weight, gradient of weight> are
// equal.
TEST_P(ConvolutionBackward, MatchesAdjointOfForward) {
  const Case& test = GetParam();
  std::mt19937 random(3);
  const auto numbers = [&](const std::vector<int32_t>& shape) {
    Array array(shape);
    for (double& value : array.values) value = static_cast<int>(random() % 7) - 3;
    return array;
  };
  const std::vector<int32_t> shape = output_shape(test);
  const Array input = numbers(test.input);
  const Array weight = numbers(test.weight);
  const Array gradient = numbers(shape);
  const Array result = reference(test, input, weight, {}, Array(shape));
  const auto dot = [](const Array& a, const double* b) {
    double sum = 0;
    for (size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b[i];
    return sum;
  };
  Tensor& input_gradient = call.make(ScalarType::kDouble, test.input);
  Tensor& weight_gradient = call.make(ScalarType::kDouble, test.weight);
  Tensor& bias_gradient = call.make(ScalarType::kDouble, {shape[1]});
  const bool mask[] = {true, true, true};
  ASSERT_TRUE(succeeds(call.run(
      "aten::convolution_backward.out", tensor<double>(shape, gradient, false),
      tensor<double>(test.input, input, true), tensor<double>(test.weight, weight, false),
      call.none(), call.ints(test.stride), call.ints(test.padding), call.ints(test.dilation),
      test.transposed, call.ints(test.output_padding), test.groups,
      EValue(std::span<const bool>(mask)), input_gradient, weight_gradient, bias_gradient)));
  const double expected = dot(result, gradient.values.data());
  EXPECT_EQ(dot(input, input_gradient.data<double>()), expected);
  EXPECT_EQ(dot(weight, weight_gradient.data<double>()), expected);
  double sum = 0;  // sum of the gradient's first channel over all images
  const size_t plane = gradient.values.size() / static_cast<size_t>(shape[0] * shape[1]);
  for (size_t n = 0; n < static_cast<size_t>(shape[0]); ++n) {
    for (size_t i = 0; i < plane; ++i) {
      sum += gradient.values[n * static_cast<size_t>(shape[1]) * plane + i];
    }
  }
  EXPECT_EQ(bias_gradient.data<double>()[0], sum);
}

std::vector<Case> two_dimensional() {
  std::vector<Case> cases;
  for (const Case& test : kCases) {
    if (test.input.size() == 4) cases.push_back(test);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cases, ConvolutionBackward, testing::ValuesIn(two_dimensional()), name_of);

// The convolution is large enough for several blocks. All sums are small integers, which float
// represents exactly.
TEST(LargeConvolution, ComputesEveryBlock) {
  KernelCall call;
  constexpr int32_t kChannels = 150;
  constexpr int32_t kSize = 9;
  constexpr int32_t kOut = 37;
  Tensor& input = call.make<float>({1, kChannels, kSize, kSize},
                                   std::vector<float>(kChannels * kSize * kSize, 1.0f));
  std::vector<float> weights;
  for (int32_t o = 0; o < kOut; ++o) weights.insert(weights.end(), kChannels, float(o));
  Tensor& weight = call.make<float>({kOut, kChannels, 1, 1}, weights);
  Tensor& out = call.output_of(ScalarType::kFloat, {1, kOut, kSize, kSize}, "aten::convolution.out",
                               input, weight, call.none(), call.ints({1}), call.ints({0}),
                               call.ints({1}), false, call.ints({0}), 1);
  for (int32_t o = 0; o < kOut; ++o) {
    for (int32_t i = 0; i < kSize * kSize; ++i) {
      ASSERT_EQ(out.data<float>()[o * kSize * kSize + i], float(o * kChannels));
    }
  }
}

// Returns the arguments of a convolution with one group, no transposition and no output padding.
std::string call_of(const std::string& tensors, const std::string& numbers) {
  return tensors + " " + numbers + " false [0] 1 !f32[1,2,3,3]";
}

TEST(ConvolutionErrors, RejectsNumbersOutOfRange) {
  const std::string tensors = "f32[1,4,5,5] f32[2,4,3,3] none";
  const std::string out = " !f32[1,2,3,3]";
  check_kernel("aten::convolution.out",
               {{call_of(tensors, "[1] [0] [1]"), "?"},
                {call_of(tensors, "[0] [0] [1]"), "error: stride"},
                {call_of(tensors, "[min] [0] [1]"), "error: stride"},
                {call_of(tensors, "[] [0] [1]"), "error: stride"},
                {call_of(tensors, "[1,1,1] [0] [1]"), "error: stride"},
                {call_of(tensors, "[1] [-1] [1]"), "error: padding"},
                {call_of(tensors, "[1] [max] [1]"), "error: padding"},
                {call_of(tensors, "[1] [0] [0]"), "error: dilation"},
                {call_of(tensors, "[1] [0] [2147483647]"), "error: does not fit"},
                {tensors + " [1] [0] [1] false [0] 0" + out, "error: groups"},
                {tensors + " [1] [0] [1] false [0] 3" + out, "error: groups"},
                {tensors + " [1] [0] [1] true [1] 1" + out, "error: output_padding"}});
}

TEST(ConvolutionErrors, RejectsMismatchedTensors) {
  const std::string numbers = "[1] [0] [1]";
  check_kernel("aten::convolution.out",
               {{call_of("f32[1,4,5,5] f32[2,4,3,3] f32[1]", numbers), "error: bias"},
                {call_of("f32[1,4,5,5] f32[2,4,9] none", numbers), "error: rank"},
                {call_of("f32[1,4,5,5] f64[2,4,3,3] none", numbers), "error: f64"},
                {call_of("f32[1,4,5,5] f32[2,3,3,3] none", numbers), "error: weight"},
                {call_of("f32[1,4,5,5] f32[2,4,0,3] none", numbers), "error: does not fit"},
                // With stride 2, the result is [1,2,2,2], but the given output is [1,2,3,3].
                {call_of("f32[1,4,5,5] f32[2,4,3,3] none", "[2] [0] [1]"),
                 "error: ", ErrorCode::kNotSupported}});
}

}  // namespace
}  // namespace vitrine::test
