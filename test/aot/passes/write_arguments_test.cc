// Operators that write to other arguments than their first: functionalised, then in place again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "aot/graph/aot_error.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"
#include "test/aot/evaluation/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// The value becomes the rows of the cache from `at` on.
Node* update(ModelBuilder& build, Node* value, Node* cache, int at) {
  return build.call_as("llama.update_cache.default", {value, cache, at}, {},
                       contiguous_spec(ScalarType::kFloat, {1}));
}

const TensorData kCache = floats({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6});
const TensorData kRow = floats({1, 1, 1, 2}, {10, 20});

Values updated(const Write& write) { return written({kCache, kRow}, write); }

TEST(WriteArguments, ReachesTheCache) {
  EXPECT_EQ(updated([](ModelBuilder& build, Node* cache, const Nodes& in) {
              update(build, in[1], cache, 1);
            }),
            (Values{1, 2, 10, 20, 5, 6}));
  // In order, and the later call reads what the earlier wrote.
  EXPECT_EQ(updated([](ModelBuilder& build, Node* cache, const Nodes& in) {
              update(build, in[1], cache, 0);
              Node* first = build.call("aten.slice.Tensor", {cache, 1, 0, 1});
              update(build, build.call("aten.mul.Tensor", {first, 2}), cache, 2);
              update(build, build.call("aten.neg.default", {in[1]}), cache, 0);
            }),
            (Values{-10, -20, 3, 4, 20, 40}));
}

TEST(WriteArguments, GoesThroughViews) {
  EXPECT_EQ(updated([](ModelBuilder& build, Node* cache, const Nodes& in) {
              Node* end = build.call("aten.slice.Tensor", {cache, 1, 1, 3});
              update(build, in[1], end, 1);
            }),
            (Values{1, 2, 3, 4, 10, 20}));
}

// What was copied before the write keeps the old numbers, though the copy could be a view.
TEST(WriteArguments, LeavesEarlierCopies) {
  const auto found = run({kCache, kRow}, [](ModelBuilder& build, const Nodes& in) {
    Node* cache = build.call("aten.mul.Tensor", {in[0], 1});
    const std::vector<int64_t> flat = {6};
    Node* before = build.call("aten.view_copy.default", {cache, flat});
    update(build, in[1], cache, 1);
    Node* after = build.call("aten.view.default", {cache, flat});
    return build.call("aten.sub.Tensor", {after, before});
  });
  expect_near(found[0], {0, 0, 7, 16, 0, 0});
}

// A piece of a split is not a tensor of its own.
TEST(WriteArguments, CopiesWhatItMustNotWrite) {
  std::string operators;
  const Build build_it = [](ModelBuilder& build, const Nodes& in) {
    Node* sorted = build.call_as(
        "aten.topk.default", {in[0], 2, 3}, {},
        Value::Items{*in[0]->tensor(), contiguous_spec(ScalarType::kLong, {1, 3, 1, 2})});
    Node* values = build.item(sorted, 0);
    update(build, in[1], values, 0);
    return values;
  };
  expect_near(run({kCache, kRow}, build_it)[0], {10, 20, 4, 3, 6, 5});
}

ExportedProgram cache_program() {
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {1, 1, 1, 2});
  Node* cache = build.buffer("cache", zeros({1, 3, 1, 2}));
  update(build, row, cache, 1);
  ExportedProgram program = build.finish({build.call("aten.neg.default", {cache})});
  to_edge(program);
  return program;
}

TEST(WriteArguments, BuffersAreWrittenInPlace) {
  ExportedProgram program = cache_program();
  EXPECT_THAT(calls(program), ElementsAre("auto_functionalized_v2", "getitem", "neg"));
  ASSERT_EQ(program.signature.outputs.size(), 2U);
  EXPECT_EQ(program.signature.outputs[0].kind, OutputSpec::Kind::kBufferMutation);
  EXPECT_EQ(program.signature.outputs[0].target, "cache");
  expect_near(evaluate(program, std::vector<TensorData>{kRow})[0], {0, 0, -10, -20, 0, 0});
  to_executable(program);
  EXPECT_THAT(calls(program), ElementsAre("update_cache", "neg"));
}

// Nothing reads the buffer, but the program keeps what is written.
TEST(WriteArguments, AWriteIsNotDeadCode) {
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {1, 1, 1, 2});
  Node* cache = build.buffer("cache", zeros({1, 3, 1, 2}));
  update(build, row, cache, 0);
  ExportedProgram program = build.finish({build.call("aten.relu.default", {row})});
  to_edge(program);
  to_executable(program);
  EXPECT_THAT(calls(program), Contains("update_cache"));
}

// Both results of an operator that writes two arguments.
TEST(WriteArguments, SeveralArguments) {
  // One key: attention gives its value. Position 0 of an empty cache.
  const TensorData one = floats({1, 1, 1, 2}, {1, 2});
  const auto attend = [](ModelBuilder& build, const Nodes& in, int which) {
    Node* keys = build.call("aten.mul.Tensor", {in[0], 0});
    Node* values = build.call("aten.mul.Tensor", {in[0], 3});
    Node* result =
        build.call_as("llama.sdpa_with_kv_cache.default", {in[1], in[1], in[1], keys, values, 0, 1},
                      {}, contiguous_spec(ScalarType::kFloat, {1, 1, 1, 2}));
    return which == 0 ? keys : which == 1 ? values : result;
  };
  const auto found = [&](int which) {
    return run({kCache, one},
               [&](ModelBuilder& build, const Nodes& in) { return attend(build, in, which); })[0];
  };
  expect_near(found(0), {1, 2, 0, 0, 0, 0});
  expect_near(found(1), {1, 2, 9, 12, 15, 18});
  expect_near(found(2), {1, 2});
}

TEST(WriteArguments, RefusesTwoThatShareMemory) {
  const auto lower = [] {
    run({kCache, kRow}, [](ModelBuilder& build, const Nodes& in) {
      Node* cache = build.call("aten.clone.default", {in[0]});
      return build.call_as("llama.sdpa_with_kv_cache.default",
                           {in[1], in[1], in[1], cache, cache, 0, 1}, {}, *in[1]->tensor());
    });
  };
  EXPECT_THAT(lower, ThrowsMessage<AotError>(HasSubstr("two arguments that share memory")));
}

// Its effects cannot be known, so that it is neither dropped nor taken.
TEST(WriteArguments, RefusesUnknownOperators) {
  const auto lower = [] {
    run({kCache, kRow}, [](ModelBuilder& build, const Nodes& in) {
      build.call_as("mylib.update.default", {in[1], in[0]}, {}, *in[1]->tensor());
      return build.call("aten.relu.default", {in[0]});
    });
  };
  EXPECT_THAT(lower, ThrowsMessage<AotError>(
                         HasSubstr("mylib.update.default is unknown, and so is what it writes")));
}

TEST(WriteArguments, RefusesFormsThatDoNotFit) {
  const auto executable = [](auto damage) {
    ExportedProgram program = cache_program();
    for (Node& node : program.graph->nodes()) {
      if (node.is_call() && node.target().is("auto_functionalized_v2")) damage(node);
    }
    to_executable(program);
  };
  const auto with = [](Node& node, const std::string& name, const Argument& value) {
    ArgumentMap kwargs = node.kwargs();
    for (auto& [key, given] : kwargs) {
      if (key == name) given = value;
    }
    node.set_kwargs(std::move(kwargs));
  };
  EXPECT_THROW(executable([&](Node& node) { with(node, "_cache_base_index", 1); }), AotError);
  EXPECT_THROW(executable([&](Node& node) { with(node, "_all_bases", Argument()); }), AotError);
  EXPECT_THROW(executable([&](Node& node) { node.set_arg(0, "no operator"); }), AotError);
  EXPECT_THROW(executable([&](Node& node) {
                 ArgumentMap kwargs = node.kwargs();
                 kwargs.emplace_back("_cache_slice_dim", 0);
                 node.set_kwargs(std::move(kwargs));
               }),
               AotError);
}

}  // namespace
}  // namespace vitrine::aot
