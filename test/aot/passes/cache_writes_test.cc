// Tests which writes to buffers become llama::update_cache, and that readers of the buffer get the
// same values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

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

// The buffer is read before, between and after two writes.
TEST(CacheWrites, KeepsOrderOfWritesAndReads) {
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {1, 2, 1, kValues});
  Node* at = build.input("position", ScalarType::kLong, {1});
  Node* cache = build.buffer("cache", seeded_weights("c", 1, {1, 2, kPositions, kValues}, 1));
  Node* before = build.call("aten.clone.default", {cache});
  Node* view = build.call("aten.select.int", {cache, 2, 3});
  build.call("aten.index_copy_.default", {cache, 2, at, row});
  Node* between = build.call("aten.add.Tensor", {cache, 1});
  Node* twice = build.call("aten.add.Tensor", {row, row});
  build.call("aten.index_copy_.default", {cache, 2, at, twice});
  Node* after = build.call("aten.mul.Tensor", {cache, 2});
  Node* through = build.call("aten.mul.Tensor", {view, 3});
  ExportedProgram own = build.finish({before, between, after, through});
  ExportedProgram replaced = own.copy();
  EXPECT_EQ(replace_attention(replaced).writes, 2U);
  to_edge(own);
  to_edge(replaced);
  const std::vector<TensorData> inputs = {seeded_weights("r", 2, {1, 2, 1, kValues}, 1),
                                          integers({1}, {3})};
  const std::vector<TensorData> expected = evaluate(own, inputs);
  const std::vector<TensorData> found = evaluate(replaced, inputs);
  for (size_t i = 0; i < expected.size(); ++i) expect_near(found[i], values_of(expected[i]));
}

// In programs from run_decompositions(), only the signature names the final value of the buffer.
TEST(CacheWrites, ReplacesMutationsInTheSignature) {
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {1, 2, 1, kValues});
  Node* at = build.input("position", ScalarType::kLong, {1});
  Node* cache = build.buffer("cache", seeded_weights("c", 1, {1, 2, kPositions, kValues}, 1));
  Node* next = build.call("aten.index_put.default",
                          {cache, Argument::list({Argument(), Argument(), at}), row});
  Node* read = build.call("aten.mul.Tensor", {next, 2});
  ExportedProgram own = build.finish({next, read});
  own.signature.outputs[0].kind = OutputSpec::Kind::kBufferMutation;
  own.signature.outputs[0].target = "cache";
  ExportedProgram replaced = own.copy();
  EXPECT_EQ(replace_attention(replaced).writes, 1U);
  lint(replaced);
  to_edge(own);
  to_edge(replaced);
  const std::vector<TensorData> inputs = {seeded_weights("r", 2, {1, 2, 1, kValues}, 1),
                                          integers({1}, {3})};
  expect_near(evaluate(replaced, inputs).at(0), values_of(evaluate(own, inputs).at(0)));
  to_executable(replaced);
  EXPECT_THAT(calls(replaced), Contains("update_cache"));
  EXPECT_THAT(calls(replaced), Not(Contains("copy_")));
}

TEST(CacheWrites, KeepsUnsupportedWritesAndGivesTheReasons) {
  const auto kept = [](const std::function<Node*(ModelBuilder&, Node * cache)>& make) {
    ModelBuilder build("Net");
    Node* cache = build.buffer("cache", zeros({1, 2, kPositions, kValues}));
    ExportedProgram program = build.finish({make(build, cache)});
    const AttentionResult result = replace_attention(program);
    EXPECT_EQ(result.writes, 0U);
    return result.kept;
  };
  // The call writes along the last dim (the elements of one row) instead of the dim of positions.
  EXPECT_THAT(kept([](ModelBuilder& build, Node* cache) {
                Node* at = build.input("position", ScalarType::kLong, {1});
                Node* row = build.input("row", ScalarType::kFloat, {1, 2, kPositions, 1});
                return build.call("aten.index_copy_.default", {cache, 3, at, row});
              }),
              ElementsAre(HasSubstr("the positions are in dim 3, not in dim 1 or 2")));
  // The write broadcasts one row to both heads.
  EXPECT_THAT(kept([](ModelBuilder& build, Node* cache) {
                Node* at = build.input("position", ScalarType::kLong, {1});
                Node* row = build.input("row", ScalarType::kFloat, {1, kValues});
                return build.call("aten.index_put_.default",
                                  {cache, Argument::list({Argument(), Argument(), at}), row});
              }),
              ElementsAre(HasSubstr("in dtype or shape")));
  // The write adds to the old values.
  EXPECT_THAT(kept([](ModelBuilder& build, Node* cache) {
                Node* at = build.input("position", ScalarType::kLong, {1});
                Node* row = build.input("row", ScalarType::kFloat, {1, 2, 1, kValues});
                return build.call("aten.index_put_.default",
                                  {cache, Argument::list({Argument(), Argument(), at}), row, true});
              }),
              IsEmpty());
  // The new value is not stored in the buffer.
  EXPECT_THAT(kept([](ModelBuilder& build, Node* cache) {
                Node* at = build.input("position", ScalarType::kLong, {1});
                Node* row = build.input("row", ScalarType::kFloat, {1, 2, 1, kValues});
                return build.call("aten.index_copy.default", {cache, 2, at, row});
              }),
              ElementsAre(HasSubstr("its result is not stored in the buffer")));
}

// The copy_ into the buffer is also a result of the model.
TEST(CacheWrites, CacheCanBeAResult) {
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {1, 2, 1, kValues});
  Node* at = build.input("position", ScalarType::kLong, {1});
  Node* cache = build.buffer("cache", seeded_weights("c", 1, {1, 2, kPositions, kValues}, 1));
  Node* next = build.call("aten.index_copy.default", {cache, 2, at, row});
  Node* commit = build.call("aten.copy_.default", {cache, next});
  ExportedProgram own = build.finish({commit});
  ExportedProgram replaced = own.copy();
  EXPECT_EQ(replace_attention(replaced).writes, 1U);
  lint(replaced);
  to_edge(own);
  to_edge(replaced);
  const std::vector<TensorData> inputs = {seeded_weights("r", 2, {1, 2, 1, kValues}, 1),
                                          integers({1}, {3})};
  expect_near(evaluate(replaced, inputs).back(), values_of(evaluate(own, inputs).back()));
}

}  // namespace
}  // namespace vitrine::aot
