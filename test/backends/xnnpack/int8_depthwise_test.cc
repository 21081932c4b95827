// Compares int8 depthwise convolutions with their formula. Each test runs with Vitrine's kernels
// and with XNNPACK's kernels. All results must equal those of the formula.
#include <algorithm>
#include <cmath>

#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "test/backends/xnnpack/own_kernels_fixture.h"

namespace vitrine::test {
namespace {

constexpr auto kInt8Image = Type::xnn_datatype_qint8;
constexpr int32_t kImageZeroPoint = -3;
constexpr int32_t kResultZeroPoint = 5;

int8_t int8_depthwise_input(size_t i) { return static_cast<int8_t>(i * 89 % 256); }
int8_t int8_depthwise_weight(size_t i) {
  return static_cast<int8_t>(static_cast<int>(i * 37 % 255) - 127);
}
int32_t int8_depthwise_bias(size_t channel) {
  return static_cast<int32_t>(channel * 997 % 4001) - 2000;
}
float int8_depthwise_scale(size_t channel) {
  return channel % 3 == 0 ? 1.0F / 256 : 0.0005F * static_cast<float>(1 + channel % 50);
}

class Int8DepthwiseTest : public OwnKernelsFixture {
 protected:
  // Runs a depthwise convolution and compares each result with the formula.
  void check(const Shape& in, const WindowSpec& w, Bounds bounds) {
    const uint32_t channels = in[3];
    const Shape out{in[0], w.result_height(in[1]), w.result_width(in[2]), channels};
    PayloadBuilder b;
    const uint32_t x = b.input(in, kInt8Image, PerTensor{1, kImageZeroPoint});
    const uint32_t y = b.output(out, kInt8Image, PerTensor{1, kResultZeroPoint});
    std::vector<int8_t> weights(size_t{w.kernel_height} * w.kernel_width * channels);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = int8_depthwise_weight(i);
    std::vector<int32_t> biases(channels);
    std::vector<float> scales(channels);
    for (uint32_t c = 0; c < channels; ++c) {
      biases[c] = int8_depthwise_bias(c);
      scales[c] = int8_depthwise_scale(c);
    }
    const uint32_t filter = b.constant<int8_t>({1, w.kernel_height, w.kernel_width, channels},
                                               weights, Type::xnn_datatype_qcint8);
    b.values[filter].per_channel = PerChannel{scales, 3};
    const uint32_t bias = b.constant<int32_t>({channels}, biases, Type::xnn_datatype_qcint32);
    b.values[bias].per_channel = PerChannel{scales, 0};
    b.convolution(Tag::XNNDepthwiseConv2d, w, x, filter, bias, y, bounds);
    load(b);
    std::vector<int8_t> input(count_of(in));
    for (size_t i = 0; i < input.size(); ++i) input[i] = int8_depthwise_input(i);
    Tensor& result = factory.make(ScalarType::kChar, sizes_of(out));
    run({&factory.make<int8_t>(sizes_of(in), input), &result});
    size_t wrong = 0;
    for (size_t i = 0; i < count_of(out); ++i) {
      const ImagePosition at = position_in(out, i);
      int32_t sum = biases[at.channel];
      w.for_each_pixel(in[1], in[2], at.y, at.x, [&](size_t pixel, size_t tap) {
        const size_t from = (at.image * in[1] * in[2] + pixel) * channels + at.channel;
        sum += (input[from] - kImageZeroPoint) * weights[tap * channels + at.channel];
      });
      const float rounded = std::nearbyint(static_cast<float>(sum) * scales[at.channel]);
      const float bounded = std::clamp(rounded, bounds.min, bounds.max) + kResultZeroPoint;
      if (result.data<int8_t>()[i] != std::clamp(bounded, -128.0F, 127.0F)) ++wrong;
    }
    EXPECT_EQ(wrong, 0) << "of " << count_of(out) << " results differ from the formula";
  }
};
INSTANTIATE_TEST_SUITE_P(WithAndWithout, Int8DepthwiseTest, testing::Bool());

WindowSpec int8_window_of(uint32_t size, uint32_t stride, uint32_t dilation, uint32_t channels) {
  return window_of(size, size, 1, 1, channels)
      .padded(size / 2 * dilation)
      .strided(stride, stride)
      .dilated(dilation, dilation);
}

TEST_P(Int8DepthwiseTest, MatchesFormulaForEachWindowAndNumberOfChannels) {
  for (const uint32_t channels : {2U, 15U, 16U, 17U, 31U, 32U, 33U, 63U, 64U, 65U, 96U, 144U}) {
    for (const auto& [size, stride, dilation] : std::initializer_list<std::array<uint32_t, 3>>{
             {3, 1, 1}, {3, 2, 1}, {3, 3, 1}, {3, 1, 2}, {5, 1, 1}, {5, 2, 1}}) {
      for (const uint32_t width : {1U, 2U, 6U, 13U}) {
        SCOPED_TRACE(testing::Message()
                     << channels << " channels, width " << width << ", window " << size
                     << ", stride " << stride << ", dilation " << dilation);
        check({2, 5, width, channels}, int8_window_of(size, stride, dilation, channels),
              channels % 2 == 0 ? Bounds{-40, 60} : Bounds{});
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Int8DepthwiseTest, TraceShowsWhichKernelRan) {
  RecordingTracer recorded;
  tracer = &recorded;
  check({1, 5, 5, 32}, int8_window_of(3, 1, 1, 32), {});
  tracer = nullptr;
  constexpr std::string_view kName = "Vitrine Depthwise Convolution (NHWC, QC8)";
  EXPECT_EQ(recorded.has_run_exactly(kName),
            GetParam() && xnnpack::OwnKernels::are_built() && xnnpack::has_avx512_vnni());
}

}  // namespace
}  // namespace vitrine::test
