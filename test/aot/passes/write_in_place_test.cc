// Tests operators that write to arguments other than the first. Passes replace their calls with
// functional calls, and later make these calls write in place again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/aot/passes/cache_update.h"

namespace vitrine::aot {
namespace {

using testing::Contains;
using testing::ElementsAre;

Values updated(const Write& write) { return written({kCache, kRow}, write); }

TEST(WriteInPlace, WritesReachTheCacheInOrder) {
  EXPECT_EQ(updated([](ModelBuilder& build, Node* cache, const Nodes& in) {
              update_cache(build, in[1], cache, 1);
            }),
            (Values{1, 2, 10, 20, 5, 6}));
  // Writes stay in order, and later calls read the results of earlier ones.
  EXPECT_EQ(updated([](ModelBuilder& build, Node* cache, const Nodes& in) {
              update_cache(build, in[1], cache, 0);
              Node* first = build.call("aten.slice.Tensor", {cache, 1, 0, 1});
              update_cache(build, build.call("aten.mul.Tensor", {first, 2}), cache, 2);
              update_cache(build, build.call("aten.neg.default", {in[1]}), cache, 0);
            }),
            (Values{-10, -20, 3, 4, 20, 40}));
}

TEST(WriteInPlace, WritesThroughViews) {
  EXPECT_EQ(updated([](ModelBuilder& build, Node* cache, const Nodes& in) {
              Node* end = build.call("aten.slice.Tensor", {cache, 1, 1, 3});
              update_cache(build, in[1], end, 1);
            }),
            (Values{1, 2, 3, 4, 10, 20}));
}

// A copy that is made before the write must keep the old values. Without the write, elide_views
// would turn the copy into a view.
TEST(WriteInPlace, EarlierCopiesKeepTheOldValues) {
  const auto found = run({kCache, kRow}, [](ModelBuilder& build, const Nodes& in) {
    Node* cache = build.call("aten.mul.Tensor", {in[0], 1});
    const std::vector<int64_t> flat = {6};
    Node* before = build.call("aten.view_copy.default", {cache, flat});
    update_cache(build, in[1], cache, 1);
    Node* after = build.call("aten.view.default", {cache, flat});
    return build.call("aten.sub.Tensor", {after, before});
  });
  expect_near(found[0], {0, 0, 7, 16, 0, 0});
}

// A result of topk is selected by getitem, so it does not count as owning its memory.
TEST(WriteInPlace, CopiesTensorsThatDoNotOwnTheirMemory) {
  const Build build_it = [](ModelBuilder& build, const Nodes& in) {
    Node* sorted = build.call_as(
        "aten.topk.default", {in[0], 2, 3}, {},
        Value::Items{*in[0]->tensor(), contiguous_spec(ScalarType::kLong, {1, 3, 1, 2})});
    Node* values = build.item(sorted, 0);
    update_cache(build, in[1], values, 0);
    return values;
  };
  expect_near(run({kCache, kRow}, build_it)[0], {10, 20, 4, 3, 6, 5});
}

TEST(WriteInPlace, WritesBuffersInPlace) {
  ExportedProgram program = update_program();
  EXPECT_THAT(calls(program), ElementsAre("auto_functionalized_v2", "getitem", "neg"));
  ASSERT_EQ(program.signature.outputs.size(), 2U);
  EXPECT_EQ(program.signature.outputs[0].kind, OutputSpec::Kind::kBufferMutation);
  EXPECT_EQ(program.signature.outputs[0].target, "cache");
  expect_near(evaluate(program, std::vector<TensorData>{kRow})[0], {0, 0, -10, -20, 0, 0});
  to_executable(program);
  EXPECT_THAT(calls(program), ElementsAre("update_cache", "neg"));
}

// No call reads the buffer, but later runs of the program can.
TEST(WriteInPlace, WritesAreNotDeadCode) {
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {1, 1, 1, 2});
  Node* cache = build.buffer("cache", zeros({1, 3, 1, 2}));
  update_cache(build, row, cache, 0);
  ExportedProgram program = build.finish({build.call("aten.relu.default", {row})});
  to_edge(program);
  to_executable(program);
  EXPECT_THAT(calls(program), Contains("update_cache"));
}

}  // namespace
}  // namespace vitrine::aot
