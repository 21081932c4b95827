#include "backends/xnnpack/aot/payload_writer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>

#include "backends/xnnpack/aot/sha256.h"

namespace vitrine::aot::xnnpack {
namespace {

using testing::ElementsAre;
using testing::Pair;

using Floats = std::vector<float>;

uint32_t add_constant_value(PayloadGraph& graph, const Floats& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(float));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  PayloadValue value;
  value.dims = {static_cast<uint32_t>(numbers.size())};
  value.data = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return graph.add_value(std::move(value));
}

// (x + a) + b with equal constants a and b
PayloadGraph sum_with_equal_constants() {
  PayloadGraph graph;
  PayloadValue value;
  value.dims = {2};
  value.input = 0;
  const uint32_t x = graph.add_value(value);
  value.input.reset();
  const uint32_t a = add_constant_value(graph, {1, 2});
  const uint32_t b = add_constant_value(graph, {1, 2});
  const uint32_t inner = graph.add_value(value);
  value.output = 0;
  const uint32_t sum = graph.add_value(value);
  for (const auto& [left, right, output] : {std::tuple(x, a, inner), std::tuple(inner, b, sum)}) {
    PayloadNode node;
    node.kind = NodeKind::XNNAdd;
    node.inputs = {left, right};
    node.output = output;
    node.handle = output;
    graph.nodes.push_back(std::move(node));
  }
  graph.inputs = {x};
  graph.outputs = {{sum, {}}};
  return graph;
}

template <class T>
T field(const Payload& payload, size_t at) {
  T number;
  std::memcpy(&number, payload.bytes.data() + at, sizeof number);
  return number;
}

// The header is described in docs/formats/xnnpack_payload.md.
TEST(PayloadWriter, WritesTheHeaderBeforeTheFlatbuffer) {
  const Payload payload = write_payload(sum_with_equal_constants());
  EXPECT_EQ(std::memcmp(payload.bytes.data(), "\0\0\0\0XH00", 8), 0);
  EXPECT_EQ(field<uint16_t>(payload, 8), 30);
  const auto at = field<uint32_t>(payload, 10);
  const auto size = field<uint32_t>(payload, 14);
  EXPECT_LE(size_t{at} + size, payload.bytes.size());
  EXPECT_EQ(field<uint32_t>(payload, 18), payload.bytes.size()) << "nothing follows the flatbuffer";
  EXPECT_EQ(field<uint64_t>(payload, 22), 0u);
  EXPECT_TRUE(fb::XNNGraphBufferHasIdentifier(payload.bytes.data() + at));
}

TEST(PayloadWriter, InputsAreNumberedBeforeOutputs) {
  const Payload payload = write_payload(sum_with_equal_constants());
  const auto* graph = fb::GetXNNGraph(payload.bytes.data() + field<uint32_t>(payload, 10));
  EXPECT_EQ(graph->num_externs(), 2u);
  std::vector<uint32_t> external;
  for (const fb::XValue* value : *graph->xvalues()) {
    external.push_back(value->xvalue_union_as_XNNTensorValue()->external_id());
  }
  EXPECT_THAT(external, ElementsAre(0, kNoValue, kNoValue, kNoValue, 1));
  EXPECT_THAT(std::vector(graph->input_ids()->begin(), graph->input_ids()->end()), ElementsAre(0));
  EXPECT_THAT(std::vector(graph->output_ids()->begin(), graph->output_ids()->end()),
              ElementsAre(4));
}

TEST(PayloadWriter, StoresEqualConstantsOnce) {
  const PayloadGraph graph = sum_with_equal_constants();
  const Payload payload = write_payload(graph);
  const std::string key = sha256_hex(*graph.values[1].data);
  ASSERT_EQ(payload.named_data.size(), 1u);
  EXPECT_EQ(payload.named_data[0].key, key);
  EXPECT_EQ(*payload.named_data[0].bytes, *graph.values[1].data);
  const auto* root = fb::GetXNNGraph(payload.bytes.data() + field<uint32_t>(payload, 10));
  std::vector<std::string> keys;
  for (const auto* entry : *root->constant_data()) keys.push_back(entry->named_key()->str());
  EXPECT_THAT(keys, ElementsAre("", key, key));
}

// FlatBuffers omits fields that equal their default. A writer could omit -0.0 by mistake, because
// -0.0 == 0.0.
TEST(PayloadWriter, KeepsTheSignOfZero) {
  const auto written = [](NodeKind kind, float parameter, Bounds bounds) {
    PayloadGraph graph;
    PayloadNode& node = graph.nodes.emplace_back();
    node.kind = kind;
    node.parameter = parameter;
    node.bounds = bounds;
    return write_payload(graph);
  };
  const auto node_in = [](const Payload& payload) {
    return fb::GetXNNGraph(payload.bytes.data() + field<uint32_t>(payload, 10))->xnodes()->Get(0);
  };
  for (const float zero : {0.0f, -0.0f}) {
    const auto has_sign = [&](float number) {
      return number == 0 && std::signbit(number) == std::signbit(zero);
    };
    const auto pad = written(NodeKind::XNNStaticConstantPad, zero, {0, 1});
    EXPECT_TRUE(has_sign(node_in(pad)->xnode_union_as_XNNStaticConstantPad()->padding_value()));
    const auto leaky = written(NodeKind::XNNLeakyReLU, zero, {0, 1});
    EXPECT_TRUE(has_sign(node_in(leaky)->xnode_union_as_XNNLeakyReLU()->negative_slope()));
    const auto elu = written(NodeKind::XNNELU, zero, {0, 1});
    EXPECT_TRUE(has_sign(node_in(elu)->xnode_union_as_XNNELU()->alpha()));
    const auto from = written(NodeKind::XNNClamp, 0, {zero, 1});
    EXPECT_TRUE(has_sign(node_in(from)->output_min_max()->output_min()));
    const auto to = written(NodeKind::XNNClamp, 0, {-1, zero});
    EXPECT_TRUE(has_sign(node_in(to)->output_min_max()->output_max()));
  }
  const auto size_with = [&](float slope) {
    return field<uint32_t>(written(NodeKind::XNNLeakyReLU, slope, {0, 1}), 14);
  };
  EXPECT_LT(size_with(0.0f), size_with(-0.5f)) << "a default is omitted";
  EXPECT_LT(size_with(-0.5f), size_with(-0.0f));
}

TEST(DelegateMap, MergesDebugHandlesWithTheSameIdentifier) {
  PayloadGraph graph;
  const auto add = [&](uint32_t identifier, const std::vector<uint32_t>& handles) {
    PayloadNode node;
    node.handle = identifier;
    node.handles = handles;
    graph.nodes.push_back(std::move(node));
  };
  add(7, {7, 3});
  add(kInsertedHandle, {});
  add(5, {5});
  add(7, {9, 7});
  EXPECT_THAT(delegate_map(graph), ElementsAre(Pair(DelegateIdentifier(7u), ElementsAre(3, 7, 9)),
                                               Pair(DelegateIdentifier(5u), ElementsAre(5))));
}

}  // namespace
}  // namespace vitrine::aot::xnnpack
