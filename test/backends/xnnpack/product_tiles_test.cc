// Tests f32 and f16 matrix products whose numbers of channels are close to the tile widths of
// XNNPACK's microkernels. The expected results are sums of integers, which both types represent
// exactly. The compiler and the processor determine which microkernels run.
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "test/backends/xnnpack/own_kernels_fixture.h"
#include "test/support/scratch_folder.h"
#include "vitrine/thread_pool.h"

namespace vitrine::test {
namespace {

using Kind = DelegateMemory::Kind;

constexpr uint32_t kDepth = 23;

float input_at(size_t row, size_t k) { return static_cast<float>((row * 7 + k * 3) % 5) - 2; }
float weight_at(size_t channel, size_t k) {
  return static_cast<float>((channel * 11 + k * 5) % 7) - 3;
}
float bias_at(size_t channel) { return static_cast<float>(channel % 4); }

// A fully connected layer, or a convolution of an image that is a single line of pixels.
struct Layer {
  const char* name;
  Tag tag;
  uint32_t window = 1, stride = 1, padding = 0;

  bool is_product() const { return tag == Tag::XNNFullyConnected; }
  bool is_transposed() const { return tag == Tag::XNNConvTranspose2d; }
  size_t rows_in(size_t rows) const { return is_transposed() ? rows : rows * stride; }
  size_t rows_out(size_t rows) const { return is_transposed() ? rows * stride : rows; }

  // Returns true if output row `out` depends on input row `in` through element `tap` of the window.
  bool joins(size_t in, size_t tap, size_t out) const {
    return is_transposed() ? in * stride + tap == out + padding
                           : in + padding == out * stride + tap;
  }
};

// XNNPACK uses tables of pointers to pixels for EverySecondPixel, Windows and WindowsTransposed.
constexpr Layer kLayers[] = {
    {"Linear", Tag::XNNFullyConnected},
    {"EverySecondPixel", Tag::XNNConv2d, 1, 2},
    {"Pixelwise", Tag::XNNConv2d},
    {"AdjacentWindowsTransposed", Tag::XNNConvTranspose2d, 2, 2},
    {"Windows", Tag::XNNConv2d, 3, 1, 1},
    {"WindowsTransposed", Tag::XNNConvTranspose2d, 4, 2, 1},
};

float sum_at(const Layer& layer, size_t rows, size_t row, size_t channel) {
  float sum = bias_at(channel);
  for (size_t in = 0; in < layer.rows_in(rows); ++in) {
    for (size_t tap = 0; tap < layer.window; ++tap) {
      if (!layer.joins(in, tap, row)) continue;
      for (size_t k = 0; k < kDepth; ++k) {
        sum += input_at(in, k) * weight_at(channel, tap * kDepth + k);
      }
    }
  }
  return sum;
}

template <class T>
class ProductTilesTest : public DelegateTest {
 protected:
  static constexpr Type kType =
      std::is_same_v<T, float> ? Type::xnn_datatype_fp32 : Type::xnn_datatype_fp16;

  void check(const Layer& layer, size_t rows, size_t channels) {
    SCOPED_TRACE(std::string(layer.name) + ", " + std::to_string(rows) + " rows, " +
                 std::to_string(channels) + " channels");
    const auto n = static_cast<uint32_t>(channels);
    const auto shape = [&](size_t count, uint32_t last) {
      const auto m = static_cast<uint32_t>(count);
      return layer.is_product() ? Shape{m, last} : Shape{1, 1, m, last};
    };
    // XNNPACK packs f32 filters as f16 if the input is f16.
    std::vector<float> weights, bias;
    std::vector<T> in;
    for (size_t c = 0; c < channels; ++c) {
      bias.push_back(bias_at(c));
      for (size_t k = 0; k < layer.window * kDepth; ++k) weights.push_back(weight_at(c, k));
    }
    for (size_t row = 0; row < layer.rows_in(rows); ++row) {
      for (size_t k = 0; k < kDepth; ++k) in.push_back(static_cast<T>(input_at(row, k)));
    }
    PayloadBuilder b;
    const Shape in_shape = shape(layer.rows_in(rows), kDepth);
    const Shape out_shape = shape(layer.rows_out(rows), n);
    const uint32_t x = b.input(in_shape, kType), y = b.output(out_shape, kType);
    const uint32_t filter = b.constant<float>(
        layer.is_product() ? Shape{n, kDepth} : Shape{n, 1, layer.window, kDepth}, weights);
    const uint32_t offsets = b.constant<float>({n}, bias);
    if (layer.is_product()) {
      b.fully_connected(x, filter, offsets, y);
    } else {
      b.convolution(layer.tag,
                    window_of(1, layer.window, kDepth, n)
                        .padded(0, layer.padding, 0, layer.padding)
                        .strided(1, layer.stride),
                    x, filter, offsets, y);
    }
    load(b);
    if (this->IsSkipped()) return;
    if (!delegate) return;  // load() reported why
    if (!options.empty()) {
      const Error saved = delegate->finish_load();
      ASSERT_TRUE(saved.ok()) << saved.message();
      load(b);
      ASSERT_GT(memory_bytes(Kind::kMappedWeights), 0u);
    }
    Tensor& out = factory.make(scalar_type_of<T>, sizes_of(out_shape));
    run({&factory.make<T>(sizes_of(in_shape), in), &out});
    for (size_t i = 0; i < layer.rows_out(rows) * channels; ++i) {
      const size_t row = i / channels, channel = i % channels;
      ASSERT_EQ(static_cast<float>(out.data<T>()[i]), sum_at(layer, rows, row, channel))
          << "row " << row << ", channel " << channel;
    }
  }

  void check_layers(std::span<const size_t> rows, std::span<const size_t> channels) {
    for (const Layer& layer : kLayers) {
      for (const size_t m : rows) {
        for (const size_t n : channels) {
          check(layer, m, n);
          if (this->IsSkipped() || this->HasFatalFailure()) return;
        }
      }
    }
  }
};

using Types = testing::Types<float, Half>;
TYPED_TEST_SUITE(ProductTilesTest, Types);

constexpr size_t kRowCounts[] = {1, 2, 3, 4, 5, 6, 7, 8, 15};
constexpr size_t kFewRows[] = {1, 8};

TYPED_TEST(ProductTilesTest, MatchesSumsForManyChannels) {
  constexpr size_t kChannels[] = {63, 64, 65, 96, 127, 128, 130};
  this->check_layers(kRowCounts, kChannels);
}

// XNNPACK may choose narrower microkernels for products with few channels.
TYPED_TEST(ProductTilesTest, MatchesSumsForFewChannels) {
  std::vector<size_t> channels(50);
  std::iota(channels.begin(), channels.end(), 1);
  this->check_layers(kRowCounts, channels);
}

// f32 weights of these sizes are large enough to be packed by several threads.
TYPED_TEST(ProductTilesTest, MatchesSumsIfAPoolPacks) {
  constexpr size_t kChannels[] = {500, 512};
  for (const size_t threads : {2, 5}) {
    const auto made = ThreadPool::create(threads, ThreadPool::Use::kAlways);
    ASSERT_TRUE(made.ok());
    this->pool = made->get();
    this->check_layers(kFewRows, kChannels);
    this->delegate.reset();
  }
}

// All cases share one weights file. Each case loads its layer twice. At the first load, the file
// contains the weights of the previous case. At the second load, it contains those of this case.
TYPED_TEST(ProductTilesTest, MatchesSumsWithWeightsFromAFile) {
  constexpr size_t kChannels[] = {1, 2, 3, 4, 5, 8, 16, 17, 24, 32, 33, 40, 48, 49};
  const ScratchFolder folder;
  const std::string path = folder / "weights";
  this->set_option("packed_cache_path", std::string_view(path));
  this->check_layers(kFewRows, kChannels);
}

// The last 16 channels have the same weights and biases as the first 16. In a kernel with tiles of
// 32 channels, the last 16 fill only half of a tile. Full and partial tiles must add products in
// the same order, because rounding depends on that order and the results must have the same bits.
TEST_F(DelegateTest, PartialTilesGiveTheSameBitsAsFullTiles) {
  constexpr size_t kRows = 9, kChannels = 48, kSame = 32;
  std::vector<float> in(kRows * kDepth), weights(kChannels * kDepth), bias(kChannels);
  for (size_t i = 0; i < in.size(); ++i) in[i] = std::sin(static_cast<float>(i));
  in[3 * kDepth + 5] = std::numeric_limits<float>::quiet_NaN();
  in[4 * kDepth + 6] = std::numeric_limits<float>::infinity();
  for (size_t c = 0; c < kChannels; ++c) {
    bias[c] = 0.1F * static_cast<float>(c % kSame);
    for (size_t k = 0; k < kDepth; ++k) {
      weights[c * kDepth + k] = std::cos(static_cast<float>(c % kSame * kDepth + k));
    }
  }
  PayloadBuilder b;
  const uint32_t x = b.input({kRows, kDepth}), y = b.output({kRows, kChannels});
  b.fully_connected(x, b.constant<float>({kChannels, kDepth}, weights),
                    b.constant<float>({kChannels}, bias), y, 0, Bounds{-1.5F, 2});
  load(b);
  Tensor& out = factory.make(ScalarType::kFloat, {kRows, kChannels});
  run({&factory.make<float>({kRows, kDepth}, in), &out});
  for (size_t row = 0; row < kRows; ++row) {
    const float* const result = out.data<float>() + row * kChannels;
    EXPECT_EQ(std::memcmp(result, result + kSame, (kChannels - kSame) * sizeof(float)), 0)
        << "row " << row;
  }
}

}  // namespace
}  // namespace vitrine::test
