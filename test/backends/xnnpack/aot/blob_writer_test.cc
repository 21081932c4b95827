#include "backends/xnnpack/aot/blob_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
