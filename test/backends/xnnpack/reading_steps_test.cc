// Tests that reading a payload takes a number of load steps that is linear in the payload's size,
// even if the payload refers to the same data many times.
#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

struct Cost {
  uint64_t steps;
  ErrorCode code;
  std::string message = {};
};

// A graph of `size` values with `size` scales each. All values share one list of scales.
Cost shared_scales(uint32_t size) {
  flatbuffers::FlatBufferBuilder out;
  const auto scales = out.CreateVector(std::vector<float>(size, 1.0f));
  const auto dims = out.CreateVector(std::vector<uint32_t>{size, 1});
  const auto quant = fb::CreatePerChannelQuant(out, scales);
  std::vector<flatbuffers::Offset<fb::XValue>> values;
  for (uint32_t i = 0; i < size; ++i) {
    const auto tensor =
        fb::CreateXNNTensorValue(out, Type::xnn_datatype_qcint8, 2, dims, 1, kInvalidId, 0, i);
    const auto quantized = fb::CreateXNNQuantizedTensorValue(
        out, tensor, fb::XNNQuantParams::PerChannelQuant, quant.Union());
    values.push_back(
        fb::CreateXValue(out, fb::XValueUnion::XNNQuantizedTensorValue, quantized.Union()));
  }
  const auto nodes = out.CreateVector(std::vector<flatbuffers::Offset<fb::XNode>>());
  out.Finish(fb::CreateXNNGraph(out, 0, nodes, out.CreateVector(values)));
  Budget steps(uint64_t{16} * out.GetSize());  // the budget of Method::load
  const auto graph =
      xnnpack::read_graph(*flatbuffers::GetRoot<fb::XNNGraph>(out.GetBufferPointer()), steps);
  return {steps.used(), graph.ok() ? ErrorCode::kOk : graph.error().code()};
}

// Returns the same constant for every key and counts the requests.
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

// y = x + 1 + 1 ... Each addition has its own named constant, and all constants have the same key.
PayloadBuilder sums(int count, const std::string& key) {
  PayloadBuilder b(PayloadBuilder::Constants::kNamed);
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

Cost cost_of(PayloadBuilder& builder, uint64_t limit = UINT64_MAX,
             const NamedDataMap* data = nullptr) {
  Budget steps(limit);
  BackendInitContext context;
  context.named_data = data;
  context.load_steps = &steps;
  const auto loaded = XnnpackBackend().init(context, builder.build(), {});
  if (loaded.ok()) return {steps.used(), ErrorCode::kOk};
  return {steps.used(), loaded.error().code(), loaded.error().message()};
}

Cost load_sums(int count, size_t letters, uint64_t limit, const OneConstant& data) {
  PayloadBuilder builder = sums(count, std::string(letters, 'k'));
  return cost_of(builder, limit, &data);
}

// Loads `size` delegates from one payload that contains `size` unused constants.
Cost delegates_that_share_a_payload(uint32_t size) {
  PayloadBuilder builder;
  negate(builder);
  builder.constants.resize(size);
  const std::vector<std::byte> payload = builder.build();
  const uint64_t delegate_bytes = 8;                            // the minimum: an offset in a list
  Budget steps(16 * (payload.size() + size * delegate_bytes));  // the budget of Method::load
  BackendInitContext context;
  context.load_steps = &steps;
  for (uint32_t i = 0; i < size; ++i) {
    const auto loaded = XnnpackBackend().init(context, payload, {});
    if (!loaded.ok()) return {steps.used(), loaded.error().code()};
  }
  return {steps.used(), ErrorCode::kOk};
}

// A chain of negations and a product. If `scale` is small, XNNPACK cannot create an operator for
// the product.
Cost product_after(uint32_t negations, float scale) {
  constexpr auto kType = Type::xnn_datatype_qint8;
  PayloadBuilder b;
  uint32_t x = b.input({1, 8}, kType, PerTensor{1});
  for (uint32_t i = 0; i < negations; ++i) {
    const uint32_t y = b.internal({1, 8}, kType, PerTensor{1});
    b.unary(Tag::XNNNegate, x, y);
    x = y;
  }
  const uint32_t filter =
      b.constant<int8_t>({1, 8}, std::vector<int8_t>(8, 1), kType, PerTensor{1});
  b.fully_connected(x, filter, kInvalidId, b.output({1, 1}, kType, PerTensor{scale}));
  return cost_of(b);
}

// The search for the node that XNNPACK rejects costs one step for each value, two for each
// negation, and three for the product.
TEST(ReadingSteps, IncludeTheSearchForARejectedNode) {
  for (const uint32_t negations : {0u, 100u, 3000u}) {
    const Cost sound = product_after(negations, 1);
    EXPECT_EQ(sound.message, "");
    const Cost refused = product_after(negations, 1e-3f);
    EXPECT_THAT(refused.message, testing::StartsWith("xnodes[" + std::to_string(negations) +
                                                     "] (FullyConnected): XNNPACK rejects it"));
    const uint64_t values = negations + 3;
    EXPECT_EQ(refused.steps - sound.steps, values + 2 * negations + 3);
  }
}

// A chain of negations, y = -(-(...x)), with `values` intermediate values. XNNPACK plans their
// memory.
Cost negations_through(uint32_t values, uint64_t limit = UINT64_MAX) {
  PayloadBuilder b;
  uint32_t x = b.input({8});
  for (uint32_t i = 0; i <= values; ++i) {
    const uint32_t y = i == values ? b.output({8}) : b.internal({8});
    b.unary(Tag::XNNNegate, x, y);
    x = y;
  }
  return cost_of(b, limit);
}

// Each pair of planned values costs 1/32 of a step. All other costs are linear in the number of
// values.
TEST(ReadingSteps, CountPairsOfValuesDuringMemoryPlanning) {
  const Cost none = negations_through(0);
  const Cost some = negations_through(640);
  const Cost twice = negations_through(1280);
  EXPECT_EQ(twice.message, "");
  EXPECT_NEAR(static_cast<double>(twice.steps - 2 * some.steps + none.steps),
              (1280.0 * 1280 - 2 * 640.0 * 640) / 64, 16);
  const Cost refused = negations_through(1280, twice.steps - 1);
  EXPECT_EQ(refused.code, ErrorCode::kOutOfResources);
  EXPECT_EQ(refused.message,
            "planning the memory of 1280 values is more work than max_load_steps allows");
}

TEST(ReadingSteps, CountTheLengthOfAKeyAtEachUse) {
  const OneConstant data;
  const Cost brief = load_sums(30, 10, UINT64_MAX, data);
  const Cost lengthy = load_sums(30, 64'010, UINT64_MAX, data);
  EXPECT_EQ(brief.code, ErrorCode::kOk);
  EXPECT_EQ(lengthy.steps - brief.steps, 30u * 1000);
  EXPECT_EQ(load_sums(30, 64'010, lengthy.steps - 1, data).code, ErrorCode::kOutOfResources);
}

// The last 30 steps are for the keys of the 30 constants. All other steps are charged before the
// first constant is read.
TEST(ReadingSteps, AreCountedBeforeConstantsAreRead) {
  const OneConstant data;
  const Cost all = load_sums(30, 10, UINT64_MAX, data);
  EXPECT_EQ(data.asked, 30);
  EXPECT_EQ(load_sums(30, 10, all.steps - 31, data).code, ErrorCode::kOutOfResources);
  EXPECT_EQ(data.asked, 30);
}

TEST(ReadingSteps, GrowLinearlyWithSharedScales) {
  const Cost small = shared_scales(4000);
  const Cost large = shared_scales(16000);
  EXPECT_EQ(large.code, ErrorCode::kOutOfResources);
  EXPECT_LE(large.steps, 5 * small.steps);
  EXPECT_EQ(shared_scales(10).code, ErrorCode::kOk);
}

TEST(ReadingSteps, GrowLinearlyWithSharedPayloads) {
  const Cost small = delegates_that_share_a_payload(500);
  const Cost large = delegates_that_share_a_payload(2000);
  EXPECT_EQ(large.code, ErrorCode::kOutOfResources);
  EXPECT_GE(small.steps, 500u);
  EXPECT_LE(large.steps, 5 * small.steps);
  EXPECT_EQ(delegates_that_share_a_payload(10).code, ErrorCode::kOk);
}

}  // namespace
}  // namespace vitrine::test
