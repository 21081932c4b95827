// Damaged payloads, byte by byte: an error or a run, never a crash. Worth most under sanitizers.
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

class MutationTest : public DelegateTest {
 protected:
  // Replaces each byte by several values; what still loads is run with the sound one's arguments.
  void mutate(BlobBuilder& b, std::vector<int32_t> in_shape, std::vector<int32_t> out_shape,
              ScalarType dtype) {
    const std::vector<std::byte> sound = b.build();
    xnnpack::Limits limits;
    limits.max_tensor_bytes = 1 << 20;
    limits.max_workspace_bytes = 1 << 22;
    ASSERT_TRUE(init(sound, limits).ok()) << init(sound, limits).error().message();
    Tensor& in = factory.make(dtype, std::move(in_shape));
    Tensor& out = factory.make(dtype, std::move(out_shape), {}, ShapeDynamism::kDynamicBound);
    EValue* arguments[] = {&factory.value(in), &factory.value(out)};
    std::memset(in.mutable_raw_data(), 1, in.nbytes());
    size_t loaded_count = 0;
    std::vector<std::byte> damaged = sound;
    for (size_t i = 0; i < sound.size(); ++i) {
      const auto original = std::to_integer<uint8_t>(sound[i]);
      for (const int value :
           {0, 1, 0x7f, 0x80, 0xff, original + 1, original - 1, original ^ 0x10}) {
        damaged[i] = static_cast<std::byte>(value);
        const Result<std::unique_ptr<Delegate>> loaded = init(damaged, limits);
        if (!loaded.ok()) {
          EXPECT_NE(loaded.error().message()[0], '\0');
          continue;
        }
        ++loaded_count;
        for (int call = 0; call < 2; ++call) {
          const Error error = (*loaded)->execute({.tracer = tracer}, arguments);
          EXPECT_EQ(error.ok(), error.message()[0] == '\0');
        }
      }
      damaged[i] = sound[i];
    }
    // Padding, constants, handles: not every byte is load-bearing.
    EXPECT_GT(loaded_count, 0u);
  }
};

TEST_F(MutationTest, AFloatConvolution) {
  BlobBuilder b;
  const uint32_t x = b.input({1, 4, 4, 2}), y = b.internal({1, 4, 4, 2});
  const uint32_t z = b.internal({1, 4, 4, 2}), sliced = b.output({1, 2, 2, 2});
  WindowSpec w;
  w.top = w.right = w.bottom = w.left = 1;
  w.kernel_height = w.kernel_width = 3;
  w.group_in = w.group_out = 2;
  b.convolution(Tag::XNNConv2d, w, x, b.constant({2, 3, 3, 2}, std::vector<float>(36, 1)),
                b.constant<float>({2}, {1, 2}), y, Bounds{-1, 1});
  b.binary(Tag::XNNMultiply, y, b.constant<float>({2}, {1, 2}), z);
  b.slice({0, 1, 1, 0}, {1, 2, 2, 2}, z, sliced);
  RecordingTracer recorded;
  tracer = &recorded;
  mutate(b, {1, 4, 4, 2}, {1, 2, 2, 2}, ScalarType::kFloat);
}

TEST_F(MutationTest, AQuantisedLayer) {
  BlobBuilder b;
  const auto i8 = Type::xnn_datatype_qint8;
  const uint32_t x = b.input({2, 3}, i8, PerTensor{0.5f, 1});
  const uint32_t y = b.internal({2, 2}, i8, PerTensor{0.5f, 0});
  const uint32_t z = b.internal({4}, i8, PerTensor{0.5f, 0});
  const uint32_t out = b.output({8}, i8, PerTensor{0.5f, 0});
  const uint32_t filter = b.constant<int8_t>({2, 3}, {1, 2, 3, 4, 5, 6}, Type::xnn_datatype_qcint8);
  b.values[filter].per_channel = PerChannel{};
  b.values[filter].scale_constant = b.add_constant(std::vector<float>{1, 1});
  b.values[filter].scale_count = 2;
  b.fully_connected(x, filter, kInvalidId, y);
  b.reshape({0}, y, z);
  b.concatenate(Tag::XNNConcatenate2, 0, {z, z}, out);
  mutate(b, {2, 3}, {8}, ScalarType::kChar);
}

TEST_F(MutationTest, ALegacyBlob) {
  BlobBuilder b(BlobBuilder::Constants::kInFlatbuffer);
  const uint32_t x = b.input({1, 4, 4, 1}), y = b.internal({1, 2, 2, 1});
  const uint32_t z = b.internal({1, 2, 2, 1}), t = b.internal({2, 1, 1, 2});
  const uint32_t out = b.output({3, 1, 1, 2});
  WindowSpec w;
  w.kernel_height = w.kernel_width = w.stride_height = w.stride_width = 2;
  b.pooling(Tag::XNNMaxPooling2d, w, x, y);
  b.binary(Tag::XNNAdd, y, b.constant<float>({1}, {1}), z);
  b.transpose({1, 3, 0, 2}, z, t);
  b.pad({0, 0, 0, 0}, {1, 0, 0, 0}, 2, t, out);
  mutate(b, {1, 4, 4, 1}, {3, 1, 1, 2}, ScalarType::kFloat);
}

}  // namespace
}  // namespace vitrine::test
