// Tests that llama::update_cache replaces supported writes to buffers. Readers of the buffers must
// get the same values as before. Some of the buffers are caches of int8 rows and their scales.
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
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kPositions = 6;
constexpr int64_t kValues = 4;

// A program that writes a row to a position of a cache.
struct WritingModel {
  ModelBuilder build{"Net"};
  Node* row = build.input("row", ScalarType::kFloat, {1, 2, 1, kValues});
  Node* at = build.input("position", ScalarType::kLong, {1});
  Node* cache = build.buffer("cache", seeded_weights("c", 1, {1, 2, kPositions, kValues}, 1));
};

// Replaces the writes of a program. Expects the same results as before. Returns the edge program.
ExportedProgram replaced_writes(ExportedProgram own, size_t writes) {
  ExportedProgram replaced = own.copy();
  EXPECT_EQ(replace_attention(replaced).writes, writes);
  lint(replaced);
  to_edge(own);
  to_edge(replaced);
  expect_same_results(replaced, own,
                      {seeded_weights("r", 2, {1, 2, 1, kValues}, 1), integers({1}, {3})});
  return replaced;
}

// The buffer is read before, between and after two writes.
TEST(CacheWrites, KeepsOrderOfWritesAndReads) {
  auto [build, row, at, cache] = WritingModel();
  Node* before = build.call("aten.clone.default", {cache});
  Node* view = build.call("aten.select.int", {cache, 2, 3});
  build.call("aten.index_copy_.default", {cache, 2, at, row});
  Node* between = build.call("aten.add.Tensor", {cache, 1});
  Node* twice = build.call("aten.add.Tensor", {row, row});
  build.call("aten.index_copy_.default", {cache, 2, at, twice});
  Node* after = build.call("aten.mul.Tensor", {cache, 2});
  Node* through = build.call("aten.mul.Tensor", {view, 3});
  replaced_writes(build.finish({before, between, after, through}), 2);
}

// In programs from run_decompositions(), only the signature names the final value of the buffer.
TEST(CacheWrites, ReplacesMutationsInTheSignature) {
  auto [build, row, at, cache] = WritingModel();
  Node* next = build.call("aten.index_put.default",
                          {cache, Argument::list({Argument(), Argument(), at}), row});
  Node* read = build.call("aten.mul.Tensor", {next, 2});
  ExportedProgram own = build.finish({next, read});
  own.signature.outputs[0].kind = OutputSpec::Kind::kBufferMutation;
  own.signature.outputs[0].target = "cache";
  ExportedProgram replaced = replaced_writes(std::move(own), 1);
  to_executable(replaced);
  EXPECT_THAT(calls(replaced), Contains("update_cache"));
  EXPECT_THAT(calls(replaced), Not(Contains("copy_")));
}

TEST(CacheWrites, KeepsUnsupportedWritesAndGivesTheReasons) {
  const auto kept = [](std::vector<SymInt> row_sizes, const Build& make) {
    ModelBuilder build("Net");
    Node* cache = build.buffer("cache", zeros({1, 2, kPositions, kValues}));
    Node* at = build.input("position", ScalarType::kLong, {1});
    Node* row = build.input("row", ScalarType::kFloat, std::move(row_sizes));
    ExportedProgram program = build.finish({make(build, {cache, at, row})});
    const AttentionResult result = replace_attention(program);
    EXPECT_EQ(result.writes, 0U);
    return result.kept;
  };
  // In these calls, "$" is the cache, then the position, then the row.
  const Argument positions = Argument::list({Argument(), Argument(), "$"});
  // The call writes along the last dim (the elements of one row) instead of the dim of positions.
  EXPECT_THAT(kept({1, 2, kPositions, 1}, one("aten.index_copy_.default", {"$", 3, "$", "$"})),
              ElementsAre(HasSubstr("the positions are in dim 3, not in dim 1 or 2")));
  // The write broadcasts one row to both heads.
  EXPECT_THAT(kept({1, kValues}, one("aten.index_put_.default", {"$", positions, "$"})),
              ElementsAre(HasSubstr("in dtype or shape")));
  // The write adds to the old values.
  EXPECT_THAT(kept({1, 2, 1, kValues}, one("aten.index_put_.default", {"$", positions, "$", true})),
              IsEmpty());
  // The new value is not stored in the buffer.
  EXPECT_THAT(kept({1, 2, 1, kValues}, one("aten.index_copy.default", {"$", 2, "$", "$"})),
              ElementsAre(HasSubstr("its result is not stored in the buffer")));
}

// The copy_ into the buffer is also a result of the model.
TEST(CacheWrites, CacheCanBeAResult) {
  auto [build, row, at, cache] = WritingModel();
  Node* next = build.call("aten.index_copy.default", {cache, 2, at, row});
  replaced_writes(build.finish({build.call("aten.copy_.default", {cache, next})}), 1);
}

constexpr int64_t kHeads = 2;

class QuantizedCaches : public testing::TestWithParam<bool> {
 protected:
  // True for caches with the dims [1, position, head, element], false for caches with the dims
  // [1, head, position, element].
  bool positions_first() const { return GetParam(); }

  ExportedProgram build(int64_t count) {
    ModelBuilder build("Step");
    Node* query = build.input("query", ScalarType::kFloat, {1, kHeads, count, kValues});
    Node* key = build.input("key", ScalarType::kFloat, {1, kHeads, count, kValues});
    Node* value = build.input("value", ScalarType::kFloat, {1, kHeads, count, kValues});
    Node* position = build.input("position", ScalarType::kLong, {count});
    Node* keys = cached(build, "keys", key, position);
    Node* values = cached(build, "values", value, position);
    Node* range = build.call("aten.arange.default", {kPositions}, {{"dtype", ScalarType::kLong}});
    Node* mask =
        build.call("aten.le.Tensor", {range, build.call("aten.unsqueeze.default", {position, 1})});
    Node* made =
        build.call("aten.scaled_dot_product_attention.default", {query, keys, values, mask});
    Node* kept = build.call("aten.clone.default", {build.buffer("keys", zeros({1}))});
    return build.finish({made, kept});
  }

  static std::vector<TensorData> inputs(int64_t count, int64_t start) {
    const auto rows = [&](const char* name) {
      return seeded_weights(name, static_cast<uint64_t>(start + 1), {1, kHeads, count, kValues}, 2);
    };
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < count; ++i) positions.push_back(start + i);
    return {rows("q"), rows("k"), rows("v"), integers({count}, positions)};
  }

 private:
  // Writes the quantized rows to one cache and their scales to another. Returns all cached rows,
  // dequantized to f32.
  Node* cached(ModelBuilder& build, const std::string& name, Node* rows, Node* position) {
    const int64_t at = positions_first() ? 1 : 2;
    if (positions_first()) rows = build.call("aten.transpose.int", {rows, 1, 2});
    // Quantizes to i8 with the scale max |x| / 127.
    Node* max =
        build.call("aten.amax.default", {build.call("aten.abs.default", {rows}), Dims{-1}, true});
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
    sizes[static_cast<size_t>(at)] = kPositions;
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
    for (const int64_t start : {int64_t{0}, kPositions - count}) {
      expect_same_results(replaced, own, inputs(count, start));
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
