// Tests int8 caches that the model itself implements: it quantizes rows, writes them and their
// scales to caches at positions, and attends to the dequantized values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "aot/graph/lint.h"
#include "aot/passes/pipelines.h"
#include "aot/passes/replace_attention.h"
#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::Contains;
using testing::Not;

constexpr int64_t kLength = 6;
constexpr int64_t kHeads = 2;
constexpr int64_t kWidth = 4;

class QuantizedCaches : public testing::TestWithParam<bool> {
 protected:
  // True for caches [1, position, head, value], false for [1, head, position, value].
  bool positions_first() const { return GetParam(); }

  ExportedProgram build(int64_t count) {
    ModelBuilder build("Step");
    Node* query = build.input("query", ScalarType::kFloat, {1, kHeads, count, kWidth});
    Node* key = build.input("key", ScalarType::kFloat, {1, kHeads, count, kWidth});
    Node* value = build.input("value", ScalarType::kFloat, {1, kHeads, count, kWidth});
    Node* position = build.input("position", ScalarType::kLong, {count});
    Node* keys = cached(build, "keys", key, position);
    Node* values = cached(build, "values", value, position);
    Node* range = build.call("aten.arange.default", {kLength}, {{"dtype", ScalarType::kLong}});
    Node* mask =
        build.call("aten.le.Tensor", {range, build.call("aten.unsqueeze.default", {position, 1})});
    Node* made =
        build.call("aten.scaled_dot_product_attention.default", {query, keys, values, mask});
    Node* kept = build.call("aten.clone.default", {build.buffer("keys", zeros({1}))});
    return build.finish({made, kept});
  }

  static std::vector<TensorData> inputs(int64_t count, int64_t start) {
    const auto rows = [&](const char* name) {
      return seeded_weights(name, static_cast<uint64_t>(start + 1), {1, kHeads, count, kWidth}, 2);
    };
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < count; ++i) positions.push_back(start + i);
    return {rows("q"), rows("k"), rows("v"), integers({count}, positions)};
  }

 private:
  // Writes the rows of this call to the cache. Returns the rows of all positions as f32.
  Node* cached(ModelBuilder& build, const std::string& name, Node* rows, Node* position) {
    const int64_t at = positions_first() ? 1 : 2;
    if (positions_first()) rows = build.call("aten.transpose.int", {rows, 1, 2});
    // Quantizes to i8 with the scale max |x| / 127.
    Node* max = build.call("aten.amax.default", {build.call("aten.abs.default", {rows}),
                                                 std::vector<int64_t>{-1}, true});
    Node* scale = build.call("aten.div.Tensor", {max, 127.0});
    Node* quotient = build.call("aten.div.Tensor", {rows, scale});
    Node* rounded = build.call("aten.round.default", {quotient});
    Node* bytes = build.call("aten.to.dtype", {rounded, ScalarType::kChar});
    Node* all = written(build, name, bytes, position, at);
    Node* scales = written(build, name + "_scales", scale, position, at);
    Node* floats = build.call("aten.mul.Tensor",
                              {build.call("aten.to.dtype", {all, ScalarType::kFloat}), scales});
    return positions_first() ? build.call("aten.transpose.int", {floats, 1, 2}) : floats;
  }

  static Node* written(ModelBuilder& build, const std::string& name, Node* rows, Node* position,
                       int64_t at) {
    std::vector<int64_t> sizes;
    for (const SymInt& size : rows->tensor()->sizes) sizes.push_back(size.value());
    sizes[static_cast<size_t>(at)] = kLength;
    int64_t bytes = static_cast<int64_t>(element_size(rows->tensor()->dtype));
    for (const int64_t size : sizes) bytes *= size;
    Node* cache =
        build.buffer(name, make_tensor_data(rows->tensor()->dtype, sizes,
                                            std::vector<std::byte>(static_cast<size_t>(bytes))));
    return build.call("aten.index_copy_.default", {cache, at, position, rows});
  }
};

TEST_P(QuantizedCaches, AreUpdatedInPlace) {
  for (const int64_t count : {1, 3}) {
    ExportedProgram own = build(count);
    ExportedProgram replaced = own.copy();
    const AttentionResult result = replace_attention(replaced);
    EXPECT_EQ(result.replaced, 1U);
    EXPECT_EQ(result.writes, 4U);
    lint(replaced);
    to_edge(own);
    to_edge(replaced);
    for (const int64_t start : {int64_t{0}, kLength - count}) {
      const std::vector<TensorData> expected = evaluate(own, inputs(count, start));
      const std::vector<TensorData> found = evaluate(replaced, inputs(count, start));
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].dtype, expected[i].dtype);
        EXPECT_EQ(found[i].sizes, expected[i].sizes);
        expect_near(found[i], values_of(expected[i]));
      }
    }
    to_executable(replaced);
    const std::vector<std::string> all = calls(replaced);
    EXPECT_EQ(
        std::ranges::count_if(all, [](const auto& op) { return op.starts_with("update_cache"); }),
        4);
    EXPECT_THAT(all, Not(Contains("copy_")));
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, QuantizedCaches, testing::Bool(), [](const auto& test) {
  return test.param ? "PositionsFirst" : "HeadsFirst";
});

}  // namespace
}  // namespace vitrine::aot
