// The work of reading a payload grows with it and no faster, whatever it shares: counted in steps.
#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/graph_reader.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

struct Cost {
  uint64_t steps;
  ErrorCode code;
};

// As many values as each has scales; they share the list.
Cost shared_scales(uint32_t size) {
  flatbuffers::FlatBufferBuilder out;
  const auto scales = out.CreateVector(std::vector<float>(size, 1.0f));
  const auto dims = out.CreateVector(std::vector<uint32_t>{size, 1});
  const auto quant = fb::CreatePerChannelQuant(out, scales);
  std::vector<flatbuffers::Offset<fb::XValue>> values;
  for (uint32_t i = 0; i < size; ++i) {
    const auto tensor =
        fb::CreateXNNTensorValue(out, Type::xnn_datatype_qcint8, 2, dims, 1, kInvalidId, 0, i);
    const auto quantised = fb::CreateXNNQuantizedTensorValue(
        out, tensor, fb::XNNQuantParams::PerChannelQuant, quant.Union());
    values.push_back(
        fb::CreateXValue(out, fb::XValueUnion::XNNQuantizedTensorValue, quantised.Union()));
  }
  const auto nodes = out.CreateVector(std::vector<flatbuffers::Offset<fb::XNode>>());
  out.Finish(fb::CreateXNNGraph(out, 0, nodes, out.CreateVector(values)));
  Budget steps(uint64_t{16} * out.GetSize());  // as Method::load gives
  const auto graph =
      xnnpack::read_graph(*flatbuffers::GetRoot<fb::XNNGraph>(out.GetBufferPointer()), steps);
  return {steps.used(), graph.ok() ? ErrorCode::kOk : graph.error().code()};
}

// Has one constant by every name, and counts how often it is asked.
class OneConstant final : public NamedDataMap {
 public:
  size_t size() const override { return 1; }
  std::string_view key(size_t) const override { return "key"; }
  Result<DataBuffer> get(std::string_view) const override {
    ++asked;
    return DataBuffer(std::as_bytes(std::span(elements_)));
  }
  Result<std::optional<TensorLayout>> layout(std::string_view) const override {
    return std::optional<TensorLayout>();
  }
  mutable int asked = 0;

 private:
  std::array<float, 4> elements_{1, 1, 1, 1};
};

// y = x + 1 + 1 ..., with a constant for each sum.
BlobBuilder sums(int count, const std::string& key) {
  BlobBuilder b(BlobBuilder::Constants::kNamed);
  b.shared_key = key;
  uint32_t sum = b.input({4});
  for (int i = 0; i < count; ++i) {
    const uint32_t one = b.constant({4}, std::vector<float>(4, 1));
    const uint32_t next = i + 1 == count ? b.output({4}) : b.internal({4});
    b.binary(Tag::XNNAdd, sum, one, next);
    sum = next;
  }
  return b;
}

Cost load_sums(int count, size_t letters, uint64_t limit, const OneConstant& data) {
  BlobBuilder builder = sums(count, std::string(letters, 'k'));
  const std::vector<std::byte> blob = builder.build();
  Budget steps(limit);
  BackendInitContext context;
  context.named_data = &data;
  context.load_steps = &steps;
  const auto loaded = XnnpackBackend().init(context, blob, {});
  return {steps.used(), loaded.ok() ? ErrorCode::kOk : loaded.error().code()};
}

// As many delegates as their payload has tables. Nothing reads these.
Cost delegates_that_share_a_payload(uint32_t size) {
  BlobBuilder builder;
  negate(builder);
  builder.constants.resize(size);
  const std::vector<std::byte> blob = builder.build();
  const uint64_t delegate_bytes = 8;                         // at least: an offset in a list
  Budget steps(16 * (blob.size() + size * delegate_bytes));  // as Method::load gives
  BackendInitContext context;
  context.load_steps = &steps;
  for (uint32_t i = 0; i < size; ++i) {
    const auto loaded = XnnpackBackend().init(context, blob, {});
    if (!loaded.ok()) return {steps.used(), loaded.error().code()};
  }
  return {steps.used(), ErrorCode::kOk};
}

// Negations, and a product, of which XNNPACK makes no operator if its scale is small.
Cost product_after(uint32_t negations, float scale, std::string* message) {
  constexpr auto kType = Type::xnn_datatype_qint8;
  BlobBuilder b;
  uint32_t x = b.input({1, 8}, kType, PerTensor{1});
  for (uint32_t i = 0; i < negations; ++i) {
    const uint32_t y = b.internal({1, 8}, kType, PerTensor{1});
    b.unary(Tag::XNNNegate, x, y);
    x = y;
  }
  const uint32_t filter =
      b.constant<int8_t>({1, 8}, std::vector<int8_t>(8, 1), kType, PerTensor{1});
  b.fully_connected(x, filter, kInvalidId, b.output({1, 1}, kType, PerTensor{scale}));
  const std::vector<std::byte> blob = b.build();
  Budget steps;
  BackendInitContext context;
  context.load_steps = &steps;
  const auto loaded = XnnpackBackend().init(context, blob, {});
  *message = loaded.ok() ? "" : loaded.error().message();
  return {steps.used(), loaded.ok() ? ErrorCode::kOk : loaded.error().code()};
}

// Each value once, then each node with its inputs and outputs: two of a negation, three of the
// product.
TEST(ReadingSteps, CountTheSearchForWhatXnnpackRefuses) {
  for (const uint32_t negations : {0u, 100u, 3000u}) {
    std::string message;
    const Cost sound = product_after(negations, 1, &message);
    EXPECT_EQ(message, "");
    const Cost refused = product_after(negations, 1e-3f, &message);
    EXPECT_THAT(message, testing::StartsWith("xnodes[" + std::to_string(negations) +
                                             "] (FullyConnected): XNNPACK refuses it"));
    const uint64_t values = negations + 3;
    EXPECT_EQ(refused.steps - sound.steps, values + 2 * negations + 3);
  }
}

// y = -(-x) ..., through so many values that XNNPACK finds places for.
Cost negations_through(uint32_t values, uint64_t limit, std::string* message) {
  BlobBuilder b;
  uint32_t x = b.input({8});
  for (uint32_t i = 0; i <= values; ++i) {
    const uint32_t y = i == values ? b.output({8}) : b.internal({8});
    b.unary(Tag::XNNNegate, x, y);
    x = y;
  }
  const std::vector<std::byte> blob = b.build();
  Budget steps(limit);
  BackendInitContext context;
  context.load_steps = &steps;
  const auto loaded = XnnpackBackend().init(context, blob, {});
  *message = loaded.ok() ? "" : loaded.error().message();
  return {steps.used(), loaded.ok() ? ErrorCode::kOk : loaded.error().code()};
}

// A pair of values is 1/32 of a step. The rest grows with the number of values.
TEST(ReadingSteps, CountPairsOfValuesThatNeedPlaces) {
  std::string message;
  const Cost none = negations_through(0, UINT64_MAX, &message);
  const Cost some = negations_through(640, UINT64_MAX, &message);
  const Cost twice = negations_through(1280, UINT64_MAX, &message);
  EXPECT_EQ(message, "");
  EXPECT_NEAR(static_cast<double>(twice.steps - 2 * some.steps + none.steps),
              (1280.0 * 1280 - 2 * 640.0 * 640) / 64, 16);
  const Cost refused = negations_through(1280, twice.steps - 1, &message);
  EXPECT_EQ(refused.code, ErrorCode::kOutOfResources);
  EXPECT_EQ(message, "planning the memory of 1280 values is more work than max_load_steps allows");
}

TEST(ReadingSteps, CountKeysThatAreShared) {
  const OneConstant data;
  const Cost brief = load_sums(30, 10, UINT64_MAX, data);
  const Cost lengthy = load_sums(30, 64'010, UINT64_MAX, data);
  EXPECT_EQ(brief.code, ErrorCode::kOk);
  EXPECT_EQ(lengthy.steps - brief.steps, 30u * 1000);
  EXPECT_EQ(load_sums(30, 64'010, lengthy.steps - 1, data).code, ErrorCode::kOutOfResources);
}

// A step for each sum that reads one, then one for its key. The rest is values and nodes.
TEST(ReadingSteps, CountConstantsBeforeTheyAreRead) {
  const OneConstant data;
  const Cost all = load_sums(30, 10, UINT64_MAX, data);
  EXPECT_EQ(data.asked, 30);
  EXPECT_EQ(load_sums(30, 10, all.steps - 31, data).code, ErrorCode::kOutOfResources);
  EXPECT_EQ(data.asked, 30);
}

TEST(ReadingSteps, AreLinearInScalesThatAreShared) {
  const Cost small = shared_scales(4000);
  const Cost large = shared_scales(16000);
  EXPECT_EQ(large.code, ErrorCode::kOutOfResources);
  EXPECT_LE(large.steps, 5 * small.steps);
  EXPECT_EQ(shared_scales(10).code, ErrorCode::kOk);
}

TEST(ReadingSteps, AreLinearInPayloadsThatAreShared) {
  const Cost small = delegates_that_share_a_payload(500);
  const Cost large = delegates_that_share_a_payload(2000);
  EXPECT_EQ(large.code, ErrorCode::kOutOfResources);
  EXPECT_GE(small.steps, 500u);
  EXPECT_LE(large.steps, 5 * small.steps);
  EXPECT_EQ(delegates_that_share_a_payload(10).code, ErrorCode::kOk);
}

}  // namespace
}  // namespace vitrine::test
