#include "backends/xnnpack/aot/blob_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

uint32_t add_constant_value(BlobGraph& graph, const Floats& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(float));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  BlobValue value;
  value.dims = {static_cast<uint32_t>(numbers.size())};
  value.data = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return graph.add_value(std::move(value));
}

// (x + a) + b, of which a and b are the same numbers.
BlobGraph sum_of_equals() {
  BlobGraph graph;
  BlobValue value;
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
    BlobNode node;
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
T field(const Blob& blob, size_t at) {
  T number;
  std::memcpy(&number, blob.bytes.data() + at, sizeof number);
  return number;
}

// docs/formats/xnnpack_blob.md
TEST(BlobWriter, FramesTheFlatbuffer) {
  const Blob blob = write_blob(sum_of_equals());
  EXPECT_EQ(std::memcmp(blob.bytes.data(), "\0\0\0\0XH00", 8), 0);
  EXPECT_EQ(field<uint16_t>(blob, 8), 30);
  const auto at = field<uint32_t>(blob, 10);
  const auto size = field<uint32_t>(blob, 14);
  EXPECT_LE(size_t{at} + size, blob.bytes.size());
  EXPECT_EQ(field<uint32_t>(blob, 18), blob.bytes.size()) << "nothing lies behind it";
  EXPECT_EQ(field<uint64_t>(blob, 22), 0u);
  EXPECT_TRUE(fb::XNNGraphBufferHasIdentifier(blob.bytes.data() + at));
}

TEST(BlobWriter, NumbersArgumentsInputsFirst) {
  const Blob blob = write_blob(sum_of_equals());
  const auto* graph = fb::GetXNNGraph(blob.bytes.data() + field<uint32_t>(blob, 10));
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

TEST(BlobWriter, EqualConstantsAreStoredOnce) {
  const BlobGraph graph = sum_of_equals();
  const Blob blob = write_blob(graph);
  const std::string key = sha256_hex(*graph.values[1].data);
  ASSERT_EQ(blob.named_data.size(), 1u);
  EXPECT_EQ(blob.named_data[0].key, key);
  EXPECT_EQ(*blob.named_data[0].bytes, *graph.values[1].data);
  const auto* root = fb::GetXNNGraph(blob.bytes.data() + field<uint32_t>(blob, 10));
  std::vector<std::string> keys;
  for (const auto* entry : *root->constant_data()) keys.push_back(entry->named_key()->str());
  EXPECT_THAT(keys, ElementsAre("", key, key));
}

// FlatBuffers leaves out what equals its default, and -0.0 == 0.0.
TEST(BlobWriter, KeepsTheSignOfZeros) {
  const auto written = [](NodeKind kind, float parameter, Bounds bounds) {
    BlobGraph graph;
    BlobNode& node = graph.nodes.emplace_back();
    node.kind = kind;
    node.parameter = parameter;
    node.bounds = bounds;
    return write_blob(graph);
  };
  const auto node_in = [](const Blob& blob) {
    return fb::GetXNNGraph(blob.bytes.data() + field<uint32_t>(blob, 10))->xnodes()->Get(0);
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
  EXPECT_LT(size_with(0.0f), size_with(-0.5f)) << "defaults are left out as before";
  EXPECT_LT(size_with(-0.5f), size_with(-0.0f));
}

TEST(DelegateMap, HasAllSourcesOfAnIdentifier) {
  BlobGraph graph;
  const auto add = [&](uint32_t identifier, const std::vector<uint32_t>& handles) {
    BlobNode node;
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
