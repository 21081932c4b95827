// Compares int8 depthwise convolutions with their formula. Each test runs with Vitrine's kernels
// and with XNNPACK's kernels. All results must equal those of the formula.
#include <algorithm>
#include <cmath>

#include "backends/xnnpack/runtime/execution/own_kernels.h"
#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

constexpr auto kInt8Image = Type::xnn_datatype_qint8;
constexpr int32_t kImageZeroPoint = -3;
constexpr int32_t kResultZeroPoint = 5;

struct Int8Image {
  uint32_t images, height, width, channels;

  std::vector<uint32_t> shape() const { return {images, height, width, channels}; }
  std::vector<int32_t> sizes() const {
    const std::vector<uint32_t> dims = shape();
    return {dims.begin(), dims.end()};
  }
  size_t count() const { return size_t{images} * height * width * channels; }
  size_t at(size_t image, size_t y, size_t x, size_t channel) const {
    return ((image * height + y) * width + x) * channels + channel;
  }
};

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

class Int8DepthwiseTest : public DelegateTest, public testing::WithParamInterface<bool> {
 protected:
  Int8DepthwiseTest() { options = option_; }

  void load_convolution(const Int8Image& in, const Int8Image& out, const WindowSpec& window,
                        Bounds bounds) {
    PayloadBuilder b;
    const uint32_t x = b.input(in.shape(), kInt8Image, PerTensor{1, kImageZeroPoint});
    const uint32_t y = b.output(out.shape(), kInt8Image, PerTensor{1, kResultZeroPoint});
    std::vector<int8_t> weights(size_t{window.kernel_height} * window.kernel_width * in.channels);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = int8_depthwise_weight(i);
    std::vector<int32_t> biases(in.channels);
    std::vector<float> scales(in.channels);
    for (uint32_t c = 0; c < in.channels; ++c) {
      biases[c] = int8_depthwise_bias(c);
      scales[c] = int8_depthwise_scale(c);
    }
    const uint32_t filter =
        b.constant<int8_t>({1, window.kernel_height, window.kernel_width, in.channels}, weights,
                           Type::xnn_datatype_qcint8);
    b.values[filter].per_channel = PerChannel{scales, 3};
    const uint32_t bias = b.constant<int32_t>({in.channels}, biases, Type::xnn_datatype_qcint32);
    b.values[bias].per_channel = PerChannel{scales, 0};
    b.convolution(Tag::XNNDepthwiseConv2d, window, x, filter, bias, y, bounds);
    load(b);
  }

  // Runs the delegate and compares each result with the formula.
  void check(const Int8Image& in, const Int8Image& out, const WindowSpec& w, Bounds bounds) {
    std::vector<int8_t> input(in.count());
    for (size_t i = 0; i < input.size(); ++i) input[i] = int8_depthwise_input(i);
    Tensor& result = factory.make(ScalarType::kChar, out.sizes());
    run({&factory.make<int8_t>(in.sizes(), input), &result});
    size_t wrong = 0;
    for (size_t image = 0; image < out.images; ++image) {
      for (size_t y = 0; y < out.height; ++y) {
        for (size_t x = 0; x < out.width; ++x) {
          for (size_t c = 0; c < out.channels; ++c) {
            const int expected = value(input, in, w, bounds, image, y, x, c);
            if (result.data<int8_t>()[out.at(image, y, x, c)] != expected) ++wrong;
          }
        }
      }
    }
    EXPECT_EQ(wrong, 0) << "of " << out.count() << " results differ from the formula";
  }

  static int value(const std::vector<int8_t>& input, const Int8Image& in, const WindowSpec& w,
                   Bounds bounds, size_t image, size_t y, size_t x, size_t channel) {
    int32_t sum = int8_depthwise_bias(channel);
    for (uint32_t ky = 0; ky < w.kernel_height; ++ky) {
      for (uint32_t kx = 0; kx < w.kernel_width; ++kx) {
        const size_t in_y = y * w.stride_height + size_t{ky} * w.dilation_height - w.top;
        const size_t in_x = x * w.stride_width + size_t{kx} * w.dilation_width - w.left;
        if (in_y >= in.height || in_x >= in.width) continue;  // padding; negative ones wrap around
        const size_t tap = (size_t{ky} * w.kernel_width + kx) * in.channels + channel;
        sum += (input[in.at(image, in_y, in_x, channel)] - kImageZeroPoint) *
               int8_depthwise_weight(tap);
      }
    }
    const float rounded = std::nearbyint(static_cast<float>(sum) * int8_depthwise_scale(channel));
    const float bounded = std::clamp(rounded, bounds.min, bounds.max);
    return static_cast<int>(std::clamp(bounded + kResultZeroPoint, -128.0F, 127.0F));
  }

 private:
  const BackendOption option_[1] = {{"XnnpackBackend", "vitrine_kernels", GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(WithAndWithout, Int8DepthwiseTest, testing::Bool());

Int8Image int8_result_of(const Int8Image& in, const WindowSpec& w) {
  return {in.images, w.result_height(in.height), w.result_width(in.width), in.channels};
}

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
        const Int8Image in{2, 5, width, channels};
        const WindowSpec window = int8_window_of(size, stride, dilation, channels);
        const Int8Image out = int8_result_of(in, window);
        const Bounds bounds = channels % 2 == 0 ? Bounds{-40, 60} : Bounds{};
        load_convolution(in, out, window, bounds);
        ASSERT_TRUE(delegate);
        check(in, out, window, bounds);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Int8DepthwiseTest, TraceShowsWhichKernelRan) {
  const Int8Image in{1, 5, 5, 32};
  const WindowSpec window = int8_window_of(3, 1, 1, in.channels);
  RecordingTracer recorded;
  tracer = &recorded;
  load_convolution(in, in, window, {});
  ASSERT_TRUE(delegate);
  check(in, in, window, {});
  tracer = nullptr;
  constexpr std::string_view kName = "Vitrine Depthwise Convolution (NHWC, QC8)";
  EXPECT_EQ(recorded.has_run_exactly(kName),
            GetParam() && xnnpack::OwnKernels::are_built() && xnnpack::has_avx512_vnni());
}

}  // namespace
}  // namespace vitrine::test
