// Tests the flags that make a conversion pack its result for KleidiAI's matrix products with int4
// weights. A conversion gets a flag only if all nodes that read its result are products that read
// the same packed layout. Builds without KleidiAI ignore the flags. xnnpack_conformance_test runs
// graphs with these flags, in builds with and without KleidiAI.
#include <gtest/gtest.h>

#include <functional>

#include "backends/xnnpack/runtime/reader/graph_reader.h"
#include "backends/xnnpack/runtime/reader/payload.h"
#include "test/backends/xnnpack/payload_builder.h"

namespace vitrine::test {
namespace {

constexpr uint32_t kForChannels = 0x80;
constexpr uint32_t kForBlocks = 0x100;
constexpr uint32_t kColumns = 4;

// Adds a filter for rows of some length.
using Filter = std::function<uint32_t(PayloadBuilder&)>;

Filter by_channel(uint32_t length, Type type = Type::xnn_datatype_qcint4) {
  return [=](PayloadBuilder& b) {
    const size_t bytes = type == Type::xnn_datatype_qcint4 ? (length + 1) / 2 : length;
    const uint32_t filter =
        b.constant<uint8_t>({kColumns, length}, std::vector<uint8_t>(kColumns * bytes, 0x88), type);
    b.values[filter].per_channel = PerChannel{std::vector<float>(kColumns, 0.5f)};
    return filter;
  };
}

uint32_t by_block(PayloadBuilder& b) {
  const uint32_t filter = b.constant<uint8_t>(
      {kColumns, 32}, std::vector<uint8_t>(kColumns * 16, 0x88), Type::xnn_datatype_qbint4);
  b.values[filter].per_block = PerBlock{32};
  b.values[filter].scale_count = kColumns;
  b.values[filter].scale_constant = b.add_constant(std::vector<uint16_t>(kColumns, 0x3f00));
  return filter;
}

// Returns the flags of a conversion of rows. Products with these filters read its result.
uint32_t flags_with(const std::vector<Filter>& filters, uint32_t length = 32,
                    Type type = Type::xnn_datatype_fp32) {
  PayloadBuilder b;
  const uint32_t x = b.dynamically_quantized(b.input({2, length}, type), 1);
  for (const Filter& filter : filters) {
    b.fully_connected(x, filter(b), kInvalidId, b.output({2, kColumns}, type));
  }
  const std::vector<std::byte> payload = b.build();
  Budget steps(1'000'000);
  const auto opened = xnnpack::open_payload(payload, steps);
  EXPECT_TRUE(opened.ok());
  const auto graph = xnnpack::read_graph(*opened->graph, steps);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message());
  return graph.ok() ? graph->nodes[0].flags : ~0u;
}

TEST(PackedConversions, PackTheirResultForProductsWithInt4Weights) {
  EXPECT_EQ(flags_with({by_channel(32)}), kForChannels);
  EXPECT_EQ(flags_with({by_block}), kForBlocks);
  EXPECT_EQ(flags_with({by_block, by_block}), kForBlocks);
}

TEST(PackedConversions, DoNotPackIfAnotherKindOfNodeReadsTheResult) {
  const Filter by_channel8 = by_channel(32, Type::xnn_datatype_qcint8);
  EXPECT_EQ(flags_with({by_channel8}), 0u);
  EXPECT_EQ(flags_with({by_block, by_channel8}), 0u);
  EXPECT_EQ(flags_with({by_block, by_channel(32)}), 0u);
  EXPECT_EQ(flags_with({by_channel(7)}, 7), 0u);
  EXPECT_EQ(flags_with({by_block}, 32, Type::xnn_datatype_fp16), 0u);
}

}  // namespace
}  // namespace vitrine::test
