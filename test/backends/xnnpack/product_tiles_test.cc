// Products of every width around the tiles of micro-kernels, in f32 and f16, against sums of whole
// numbers that both hold exactly. Compilers and processors decide which micro-kernels run.
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

constexpr uint32_t kDepth = 23;

float input_at(size_t row, size_t k) { return static_cast<float>((row * 7 + k * 3) % 5) - 2; }
float weight_at(size_t channel, size_t k) {
  return static_cast<float>((channel * 11 + k * 5) % 7) - 3;
}
float bias_at(size_t channel) { return static_cast<float>(channel % 4); }
float product_at(size_t row, size_t channel) {
  float sum = bias_at(channel);
  for (size_t k = 0; k < kDepth; ++k) sum += input_at(row, k) * weight_at(channel, k);
  return sum;
}

template <class T>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr Type value = Type::xnn_datatype_fp32;
  static constexpr ScalarType scalar = ScalarType::kFloat;
};
template <>
struct TypeOf<Half> {
  static constexpr Type value = Type::xnn_datatype_fp16;
  static constexpr ScalarType scalar = ScalarType::kHalf;
};

template <class T>
class ProductTilesTest : public DelegateTest {
 protected:
  using Shape = std::vector<uint32_t>;
  static constexpr Type kType = TypeOf<T>::value;

  // The rows of a product, or the pixels of a convolution with a stride, which goes through
  // pointers to its pixels.
  void check(size_t rows, size_t channels, bool as_convolution) {
    SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(channels) + " channels");
    const size_t stride = as_convolution ? 2 : 1;
    const auto n = static_cast<uint32_t>(channels);
    const auto shape = [&](size_t count, uint32_t last) {
      const auto m = static_cast<uint32_t>(count);
      return as_convolution ? Shape{1, m, 1, last} : Shape{m, last};
    };
    // XNNPACK packs f32 filters as f16 where the input is f16.
    std::vector<float> weights, bias;
    std::vector<T> in;
    for (size_t c = 0; c < channels; ++c) {
      bias.push_back(bias_at(c));
      for (size_t k = 0; k < kDepth; ++k) weights.push_back(weight_at(c, k));
    }
    for (size_t row = 0; row < rows * stride; ++row) {
      for (size_t k = 0; k < kDepth; ++k) in.push_back(static_cast<T>(input_at(row, k)));
    }
    BlobBuilder b;
    const Shape in_shape = shape(rows * stride, kDepth), out_shape = shape(rows, n);
    const uint32_t x = b.input(in_shape, kType), y = b.output(out_shape, kType);
    const uint32_t filter =
        b.constant<float>(as_convolution ? Shape{n, 1, 1, kDepth} : Shape{n, kDepth}, weights);
    const uint32_t offsets = b.constant<float>({n}, bias);
    if (as_convolution) {
      b.convolution(Tag::XNNConv2d, {.stride_height = 2, .group_in = kDepth, .group_out = n}, x,
                    filter, offsets, y);
    } else {
      b.fully_connected(x, filter, offsets, y);
    }
    load(b);
    if (this->IsSkipped()) return;
    if (!delegate) return;  // load() said why
    const auto sizes = [](const Shape& dims) {
      return std::vector<int32_t>(dims.begin(), dims.end());
    };
    Tensor& out = factory.make(TypeOf<T>::scalar, sizes(out_shape));
    run({&factory.make<T>(sizes(in_shape), in), &out});
    for (size_t i = 0; i < rows * channels; ++i) {
      const size_t row = i / channels, channel = i % channels;
      ASSERT_EQ(static_cast<float>(out.data<T>()[i]), product_at(row * stride, channel))
          << "row " << row << ", channel " << channel;
    }
  }
};

using Types = testing::Types<float, Half>;
TYPED_TEST_SUITE(ProductTilesTest, Types);

constexpr size_t kRows[] = {1, 2, 6, 7, 8, 15};
constexpr size_t kChannels[] = {1, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 128, 130};

TYPED_TEST(ProductTilesTest, FullyConnected) {
  for (const size_t rows : kRows) {
    for (const size_t channels : kChannels) this->check(rows, channels, false);
  }
}

TYPED_TEST(ProductTilesTest, Convolution) {
  for (const size_t rows : kRows) {
    for (const size_t channels : kChannels) this->check(rows, channels, true);
  }
}

}  // namespace
}  // namespace vitrine::test
