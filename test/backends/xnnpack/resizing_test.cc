// Tests calls whose tensor sizes differ from those of the previous call. XNNPACK alone would keep
// buffers that have the sizes of the previous call. AddressSanitizer detects accesses outside of
// these buffers. Other builds detect only wrong results.
#include <gmock/gmock.h>

#include <deque>
#include <numeric>

#include "test/backends/xnnpack/delegate_fixture.h"
#include "test/corruption/guarded_memory.h"

namespace vitrine::test {
namespace {

using testing::Each;

constexpr uint32_t kKeepDims = 0x40;

class ResizingTest : public DelegateTest {
 protected:
  // Returns a tensor whose data is followed by XNN_EXTRA_BYTES readable bytes and then by an
  // unreadable page.
  template <class T, class Fill>
  Tensor& input(const std::vector<int32_t>& sizes, Fill fill) {
    const int32_t count = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies());
    std::vector<T> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(fill(i));
    Tensor& tensor = factory.make<T>(sizes, values);
    std::byte* data = memories_.emplace_back(tensor.nbytes(), XNN_EXTRA_BYTES).data();
    std::memcpy(data, values.data(), tensor.nbytes());
    tensor.set_data(data, /*has_slack=*/true);
    return tensor;
  }

  // Runs the delegate and returns true if it succeeds. A failure fails the test, unless the call is
  // `resized` and the error says that this build cannot resize a delegate in this way.
  bool runs(const std::vector<Tensor*>& tensors, bool resized) {
    const Error error = execute(tensors);
    const bool refuses =
        !xnnpack::operator_times_are_measured() && error.code() == ErrorCode::kNotSupported;
    EXPECT_TRUE(error.ok() || (resized && refuses)) << error.message();
    return error.ok();
  }

  void check_dynamically_quantized(Tag tag);
  void check_global_average(Type type);
  void check_channels(int32_t from, int32_t to);

 private:
  std::deque<GuardedMemory> memories_;
};

// Runs one image of 64 x 64 pixels, and then 4096 images of one pixel. Both inputs have the same
// number of bytes, but the second needs more quantization parameters, because each image has its
// own. These parameters must not overwrite `kept`, which follows them in the workspace.
void ResizingTest::check_dynamically_quantized(Tag tag) {
  SCOPED_TRACE(fb::EnumNameXNodeUnion(tag));
  PayloadBuilder b;
  const uint32_t x = b.input({1, 64, 64, 1}), y = b.output({1, 64, 64, 1});
  const uint32_t quantized = b.internal({1, 64, 64, 1}, Type::xnn_datatype_qdint8);
  b.values[quantized].nonbatch_dims = 3;
  const uint32_t filter =
      b.constant<int8_t>({1, 3, 3, 1}, std::vector<int8_t>(9, 1), Type::xnn_datatype_qcint8);
  b.values[filter].per_channel = PerChannel{{1}};
  const uint32_t x2 = b.input({64}), kept = b.internal({64}), y2 = b.output({64});
  b.unary(Tag::XNNAbs, x2, kept);
  b.unary(Tag::XNNConvert, x, quantized);
  b.convolution(tag, window_of(3, 3).padded(1), quantized, filter, b.constant<float>({1}, {0}), y);
  b.unary(Tag::XNNAbs, kept, y2);
  load(b);
  for (const auto& [images, side] : {std::pair(1, 64), std::pair(4096, 1)}) {
    SCOPED_TRACE(images);
    const std::vector<int32_t> sizes = {images, side, side, 1};
    Tensor& out = factory.make(ScalarType::kFloat, sizes);
    Tensor& out2 = factory.make(ScalarType::kFloat, {64});
    Tensor& in = input<float>(sizes, [](size_t i) { return i % 7 + 1; });
    Tensor& in2 = input<float>({64}, [](size_t) { return -3; });
    if (!runs({&in, &out, &in2, &out2}, images != 1)) return;
    EXPECT_THAT(values_of<float>(out2), Each(3));
    if (side != 1) continue;
    for (size_t i = 0; i < 4096; ++i) {
      ASSERT_NEAR(out.data<float>()[i], static_cast<float>(i % 7 + 1), 0.05f) << i;
    }
  }
}

TEST_F(ResizingTest, DynamicallyQuantizedConvolutionsAcceptMoreImages) {
  for (const Tag tag : {Tag::XNNConv2d, Tag::XNNConvTranspose2d}) check_dynamically_quantized(tag);
}

// XNNPACK stores 32-bit sums in the workspace. They need more bytes than the output.
void ResizingTest::check_global_average(Type type) {
  SCOPED_TRACE(fb::EnumNameXNNDatatype(type));
  PayloadBuilder b;
  const PerTensor quant{1, 0};
  const uint32_t x = b.input({64, 2, 2, 1024}, type, quant);
  b.unary(Tag::XNNGlobalAvgPooling2d, x, b.output({64, 1, 1, 1024}, type, quant), kKeepDims);
  load(b);
  for (const int32_t images : {1, 64}) {
    SCOPED_TRACE(images);
    const auto image = [](size_t i) { return i / 4096; };
    Tensor& in = type == Type::xnn_datatype_qint8 ? input<int8_t>({images, 2, 2, 1024}, image)
                                                  : input<uint8_t>({images, 2, 2, 1024}, image);
    Tensor& out = factory.make(in.dtype(), {images, 1, 1, 1024});
    if (!runs({&in, &out}, images != 1)) return;
    const auto* bytes = static_cast<const uint8_t*>(out.raw_data());
    for (size_t i = 0; i < out.nbytes(); ++i) ASSERT_EQ(bytes[i], i / 1024) << i;
  }
}

TEST_F(ResizingTest, GlobalAveragePoolingAcceptsMoreImages) {
  for (const Type type : {Type::xnn_datatype_qint8, Type::xnn_datatype_quint8}) {
    check_global_average(type);
  }
}

// Computes y = abs(abs(x1) + x2). XNNPACK overwrites abs(x1) with the sum if both have the same
// size. They have the same size only in the second call.
TEST_F(ResizingTest, SumsDoNotOverwriteSmallerOperands) {
  constexpr int32_t kRow = 1024, kOther = 16 * kRow;
  PayloadBuilder b;
  const uint32_t x1 = b.input({1, kRow}), x2 = b.input({8, kRow}), x3 = b.input({kOther});
  const uint32_t first = b.internal({1, kRow}), sum = b.internal({8, kRow});
  const uint32_t other = b.internal({kOther});
  b.unary(Tag::XNNAbs, x3, other);
  b.unary(Tag::XNNAbs, x1, first);
  b.binary(Tag::XNNAdd, first, x2, sum);
  b.unary(Tag::XNNAbs, sum, b.output({8, kRow}));
  b.unary(Tag::XNNAbs, other, b.output({kOther}));
  load(b);
  struct Rows {
    int32_t first, second, other;
  };
  for (const auto& [rows1, rows2, others] :
       {Rows{1, 8, 8}, Rows{2, 1, kOther}, Rows{1, 8, kOther}}) {
    SCOPED_TRACE(testing::Message() << rows1 << " and " << rows2);
    Tensor& out = factory.make(ScalarType::kFloat, {std::max(rows1, rows2), kRow});
    Tensor& other_out = factory.make(ScalarType::kFloat, {others});
    Tensor& in1 = input<float>({rows1, kRow}, [](size_t) { return -1; });
    Tensor& in2 = input<float>({rows2, kRow}, [](size_t) { return 2; });
    Tensor& other_in = input<float>({others}, [](size_t) { return -5; });
    if (!runs({&in1, &in2, &other_in, &out, &other_out}, rows1 == 2)) return;
    EXPECT_THAT(values_of<float>(out), Each(1 + 2));
    EXPECT_THAT(values_of<float>(other_out), Each(5));
  }
}

// In the inputs, all pixels of a channel have the same value.
void ResizingTest::check_channels(int32_t from, int32_t to) {
  SCOPED_TRACE(testing::Message() << from << " to " << to << " channels");
  PayloadBuilder b;
  const auto channels = static_cast<uint32_t>(from);
  const uint32_t x = b.input({1, 4, 4, channels});
  const WindowSpec w = window_of(2, 2).strided(2, 2);
  const uint32_t index = b.output({1, 2, 2, channels}, Type::xnn_datatype_int32);
  b.pooling(Tag::XNNMaxPooling2d, w, x, b.output({1, 2, 2, channels}));
  b.pooling(Tag::XNNAvgPooling2d, w.dilated(0, 0), x, b.output({1, 2, 2, channels}));
  b.argmax(w, x, b.output({1, 2, 2, channels}), index);
  b.unary(Tag::XNNGlobalAvgPooling2d, x, b.output({1, 1, 1, channels}), kKeepDims);
  b.resize(8, 8, x, b.output({1, 8, 8, channels}));
  load(b);
  for (const int32_t now : {from, to}) {
    SCOPED_TRACE(now);
    const auto count = static_cast<size_t>(now);
    std::vector<Tensor*> tensors = {
        &input<float>({1, 4, 4, now}, [count](size_t i) { return i % count + 1; })};
    tensors.push_back(&factory.make(ScalarType::kInt, {1, 2, 2, now}));
    for (const int32_t side : {2, 2, 2, 1, 8}) {
      tensors.push_back(&factory.make(ScalarType::kFloat, {1, side, side, now}));
    }
    if (!runs(tensors, now == to)) return;
    for (size_t k = 2; k < tensors.size(); ++k) {
      SCOPED_TRACE(k);
      const auto values = values_of<float>(*tensors[k]);
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_FLOAT_EQ(values[i], static_cast<float>(i % count + 1)) << i;
      }
    }
  }
}

TEST_F(ResizingTest, WindowNodesAcceptFewerAndMoreChannels) {
  check_channels(64, 1);
  check_channels(1, 64);
}

// If a node has two outputs, XNNPACK resizes only the first one.
TEST_F(ResizingTest, MaxPoolingIndicesAreResized) {
  PayloadBuilder b;
  const uint32_t x = b.input({1, 2, 2, 3}), best = b.output({1, 1, 1, 3});
  b.argmax(window_of(2, 2).strided(2, 2), x, best,
           b.output({1, 1, 1, 3}, Type::xnn_datatype_int32));
  load(b);
  for (const int32_t side : {1, 32, 3}) {
    SCOPED_TRACE(side);
    Tensor& out = factory.make(ScalarType::kFloat, {1, side, side, 3});
    Tensor& places = factory.make(ScalarType::kInt, {1, side, side, 3});
    const std::vector<int32_t> sizes = {1, 2 * side, 2 * side, 3};
    if (!runs({&input<float>(sizes, [](size_t i) { return i; }), &out, &places}, side != 1)) return;
    const auto values = values_of<float>(out);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto pixels = static_cast<size_t>(side);
      const size_t row = i / 3 / pixels, column = i / 3 % pixels;
      const size_t last = ((2 * row + 1) * 2 * pixels + 2 * column + 1) * 3 + i % 3;
      ASSERT_EQ(values[i], static_cast<float>(last)) << i;
    }
    EXPECT_THAT(values_of<int32_t>(places), Each(3));  // the last element of each window
  }
}

}  // namespace
}  // namespace vitrine::test
