// Tests which packed weights a node gets from a cache. In some tests, different weights have equal
// digests.
#include "backends/xnnpack/runtime/weights/packing.h"

#include <gtest/gtest.h>

#include <functional>

#include "backends/xnnpack/runtime/reader/node_table.h"
#include "backends/xnnpack/runtime/weights/packed_weights.h"
#include "test/support/scratch_folder.h"

namespace vitrine::xnnpack {
namespace {

namespace fb = schema::xnnpack;
using test::ScratchFolder;

// A matrix product: values 0 to 3 are input, filter, bias and output.
class PackingTest : public testing::Test {
 protected:
  PackingTest() { make(graph_); }
  void SetUp() override { ASSERT_TRUE(cache_); }

  void make(Graph& graph) const {
    ASSERT_TRUE(graph.values.resize(4).ok());
    for (Value& value : graph.values) {
      value.datatype = find_datatype(fb::XNNDatatype::xnn_datatype_fp32);
      value.used = true;
    }
    for (const uint32_t i : {1u, 2u}) {
      Value& value = graph.values[i];
      value.constant = i;
      value.data = bytes_.data() + 64 * i;
      value.content = {i, i};
      value.scales = bytes_.data();
    }
    graph.values[1].shape = {2, {8, 4}};
    graph.values[2].shape = {1, {8}};
    Node node;
    node.kind = find_node_kind(fb::XNodeUnion::XNNFullyConnected);
    node.input_count = 3;
    node.inputs = {0, 1, 2};
    node.output_count = 1;
    node.outputs = {3};
    node.live = true;
    ASSERT_TRUE(graph.nodes.push_back(node).ok());
  }

  xnn_weights_cache_look_up_key key() const {
    xnn_weights_cache_look_up_key key{};
    key.seed = 7;
    key.kernel = graph_.values[1].data;
    return key;
  }
  Packing packing(const WeightsCache& cache) const {
    return packing_for_kernel(packing_of(graph_, graph_.nodes[0], cache.secret()), key().seed,
                              cache.secret());
  }
  // Returns the address of the weights for XNNPACK, or SIZE_MAX if XNNPACK must pack them.
  size_t look_up() {
    const auto wanted = key();
    return weights_.provider()->look_up(weights_.provider()->context, &wanted);
  }
  // Inserts a packed block, as XNNPACK does, and expects that XNNPACK gets this block.
  void insert_new_block() {
    void* const block = weights_.provider()->reserve_space(&weights_, 128);
    ASSERT_NE(block, nullptr);
    const auto wanted = key();
    EXPECT_EQ(weights_.provider()->look_up_or_insert(&weights_, &wanted, block, 128),
              reinterpret_cast<size_t>(block));
  }

  Graph graph_;
  alignas(64) std::array<std::byte, 256> bytes_{};
  const std::shared_ptr<WeightsCache> cache_ = WeightsCache::open("");
  PackedWeights weights_{cache_, nullptr};
};

TEST_F(PackingTest, GeometryComparesEveryFieldThatAffectsSizes) {
  const DigestSecret secret{};
  const Packing packing = packing_of(graph_, graph_.nodes[0], secret);
  ASSERT_FALSE(packing.digest.empty());
  EXPECT_TRUE(packing == packing_of(graph_, graph_.nodes[0], secret));
  EXPECT_FALSE(packing.geometry == packing_for_kernel(packing, 1, secret).geometry);

  const auto expect_other = [&](const std::function<void(Graph&, Node&)>& change) {
    Graph graph;
    make(graph);
    change(graph, graph.nodes[0]);
    const Packing other = packing_of(graph, graph.nodes[0], secret);
    EXPECT_FALSE(other.geometry == packing.geometry);
    EXPECT_FALSE(other.digest == packing.digest);
    EXPECT_FALSE(other.digest.empty());
  };
  for (const auto member : {&Node::flags, &Node::group_input_channels, &Node::group_output_channels,
                            &Node::groups, &Node::adjustment_height, &Node::adjustment_width}) {
    expect_other([&](Graph&, Node& node) { node.*member = 5; });
  }
  for (const auto member : {&Window::padding_top, &Window::padding_right, &Window::padding_bottom,
                            &Window::padding_left, &Window::kernel_height, &Window::kernel_width,
                            &Window::stride_height, &Window::stride_width, &Window::dilation_height,
                            &Window::dilation_width}) {
    expect_other([&](Graph&, Node& node) { node.window.*member = 5; });
  }
  expect_other([](Graph&, Node& node) {
    node.kind = find_node_kind(fb::XNodeUnion::XNNBatchMatrixMultiply);
  });
  expect_other([](Graph&, Node& node) { node.input_count = 2; });
  for (const size_t i : {0, 1, 2, 3}) {
    SCOPED_TRACE(i);
    expect_other([&](Graph& graph, Node&) {
      graph.values[i].datatype = find_datatype(fb::XNNDatatype::xnn_datatype_fp16);
    });
    expect_other([&](Graph& graph, Node&) { graph.values[i].scale = 0.5f; });
    expect_other([&](Graph& graph, Node&) { graph.values[i].zero_point = 1; });
  }
  for (const size_t i : {1, 2}) {
    SCOPED_TRACE(i);
    for (const auto member : {&Value::channel_dim, &Value::block_size, &Value::scale_count}) {
      expect_other([&](Graph& graph, Node&) { graph.values[i].*member = 5; });
    }
    expect_other([&](Graph& graph, Node&) { graph.values[i].shape.rank = 3; });
    for (size_t dim = 0; dim < graph_.values[i].shape.rank; ++dim) {
      expect_other([&](Graph& graph, Node&) { graph.values[i].shape[dim] = 5; });
    }
  }
}

TEST_F(PackingTest, DigestDependsOnWeightsAndScales) {
  const DigestSecret secret{};
  Value& filter = graph_.values[1];
  filter.scale_count = 8;
  const Packing packing = packing_of(graph_, graph_.nodes[0], secret);
  bytes_[31] = std::byte{1};
  const Packing scaled = packing_of(graph_, graph_.nodes[0], secret);
  EXPECT_FALSE(scaled.digest == packing.digest);
  EXPECT_TRUE(scaled.geometry == packing.geometry);
  filter.content.high ^= 1;
  EXPECT_FALSE(packing_of(graph_, graph_.nodes[0], secret).digest == scaled.digest);
  filter.content = {};
  EXPECT_TRUE(packing_of(graph_, graph_.nodes[0], secret).digest.empty());
}

TEST_F(PackingTest, DigestDependsOnTheSecret) {
  DigestSecret secret{};
  const Packing packing = packing_of(graph_, graph_.nodes[0], secret);
  secret.fill(std::byte{0x5a});
  const Packing other = packing_of(graph_, graph_.nodes[0], secret);
  EXPECT_FALSE(other.digest == packing.digest);
  EXPECT_TRUE(other.geometry == packing.geometry);
  EXPECT_FALSE(digest_of(bytes_, secret) == digest_of(bytes_, DigestSecret{}));
}

// The cache contains a smaller block for a filter with the same digest. If XNNPACK used that block,
// it would read past the end of the block.
TEST_F(PackingTest, DoesNotShareWeightsWithEqualDigestsButDifferentSizes) {
  Packing smaller = packing(*cache_);
  smaller.geometry.weights[0].dims[0] = 1;
  const auto small = cache_->insert(smaller, std::span(bytes_).first(16), nullptr);
  ASSERT_TRUE(small);
  EXPECT_EQ(cache_->find(smaller), small);

  ASSERT_TRUE(weights_.identify(graph_, 0).ok());
  EXPECT_EQ(look_up(), SIZE_MAX);
  insert_new_block();
  EXPECT_TRUE(weights_.is_complete());
  EXPECT_EQ(cache_->find(smaller), small);  // the block in use is not replaced

  const auto same = cache_->insert(packing(*cache_), std::span(bytes_), nullptr);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->bytes.size(), bytes_.size());
}

TEST_F(PackingTest, SharesWeightsWithEqualDigestsAndGeometry) {
  const auto made = cache_->insert(packing(*cache_), bytes_, nullptr);
  ASSERT_TRUE(made);
  ASSERT_TRUE(weights_.identify(graph_, 0).ok());
  EXPECT_EQ(look_up(), reinterpret_cast<size_t>(bytes_.data()));
}

// For some convolutions, XNNPACK packs the weights before it looks for a block in the cache.
TEST_F(PackingTest, InsertKeepsTheNewBlockIfTheCachedBlockHasADifferentSize) {
  const auto small = cache_->insert(packing(*cache_), std::span(bytes_).first(16), nullptr);
  ASSERT_TRUE(small);
  ASSERT_TRUE(weights_.identify(graph_, 0).ok());
  insert_new_block();
}

// If two nodes pack one filter in different ways, XNNPACK still uses the same key for both.
TEST_F(PackingTest, DoesNotShareAFilterThatIsPackedInTwoWays) {
  const auto made = cache_->insert(packing(*cache_), bytes_, nullptr);
  ASSERT_TRUE(made);
  Node other = graph_.nodes[0];
  other.groups = 2;
  ASSERT_TRUE(graph_.nodes.push_back(other).ok());
  ASSERT_TRUE(weights_.identify(graph_, 0).ok());
  EXPECT_EQ(look_up(), SIZE_MAX);
}

// Opens the file again, as another process would.
TEST_F(PackingTest, FileStoresSecretAndGeometry) {
  const ScratchFolder folder;
  const std::string path = folder / "weights";
  Packing packed;
  DigestSecret secret;
  {
    const std::shared_ptr<WeightsCache> cache = WeightsCache::open(path);
    ASSERT_TRUE(cache);
    secret = cache->secret();
    packed = packing(*cache);
    const auto made = cache->insert(packed, bytes_, nullptr);
    ASSERT_TRUE(made);
    ASSERT_TRUE(cache->save().ok());
  }
  const std::shared_ptr<WeightsCache> cache = WeightsCache::open(path);
  ASSERT_TRUE(cache);
  EXPECT_EQ(cache->secret(), secret);
  EXPECT_TRUE(packing(*cache) == packed);
  Packing smaller = packed;
  smaller.geometry.weights[1].dims[0] = 1;
  EXPECT_FALSE(cache->find(smaller));
  {
    const auto found = cache->find(packed);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->mapping);
    EXPECT_TRUE(std::ranges::equal(found->bytes, bytes_));
  }
  // The file's block is not in use any more, so the new block replaces it.
  const auto small = cache->insert(smaller, std::span(bytes_).first(16), nullptr);
  ASSERT_TRUE(small);
  EXPECT_EQ(cache->find(smaller), small);
  ASSERT_TRUE(cache->save().ok());
  const std::shared_ptr<WeightsCache> last = WeightsCache::open(path);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->secret(), secret);
  EXPECT_FALSE(last->find(packed));
  const auto found = last->find(smaller);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes.size(), 16u);
}

TEST_F(PackingTest, CachesHaveDifferentSecrets) {
  const ScratchFolder folder;
  const std::shared_ptr<WeightsCache> caches[] = {WeightsCache::open(""), WeightsCache::open(""),
                                                  WeightsCache::open((folder / "one").string()),
                                                  WeightsCache::open((folder / "two").string())};
  for (const auto& cache : caches) {
    ASSERT_TRUE(cache);
    EXPECT_NE(cache->secret(), DigestSecret{});
    EXPECT_EQ(std::ranges::count(caches, cache->secret(),
                                 [](const auto& each) { return each->secret(); }),
              1);
  }
}

}  // namespace
}  // namespace vitrine::xnnpack
