#include "aot/passes/auto_functionalized.h"

#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "test/aot/passes/cache_update.h"

namespace vitrine::aot {
namespace {

TEST(AutoFunctionalized, FindsArgumentsThatAnOperatorWrites) {
  const auto written_by = [](const char* target) {
    return written_arguments(*operator_of(Target::of(target))).size();
  };
  EXPECT_EQ(written_by("aten.relu.default"), 0U);
  EXPECT_EQ(written_by("llama.update_cache.default"), 1U);
  EXPECT_EQ(written_by("llama.sdpa_with_kv_cache.default"), 2U);
  ModelBuilder build("Net");
  Node* row = build.input("row", ScalarType::kFloat, {1, 1, 1, 2});
  Node* cache = build.buffer("cache", zeros({1, 3, 1, 2}));
  EXPECT_TRUE(writes_arguments(*update_cache(build, row, cache, 1)));
  EXPECT_FALSE(writes_arguments(*build.call("aten.relu_.default", {row})))
      << "it returns what it writes";
  EXPECT_FALSE(writes_arguments(*row));
}

TEST(AutoFunctionalized, ReturnsEveryWrittenArgument) {
  // With one key, at position 0 of the cache, attention returns the value of that key.
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

TEST(AutoFunctionalized, RejectsMalformedArguments) {
  const auto executable = [](auto damage) {
    ExportedProgram program = update_program();
    for (Node& node : program.graph->nodes()) {
      if (node.is_call() && node.target().is("auto_functionalized_v2")) damage(node);
    }
    to_executable(program);
  };
  const auto set_kwarg = [](Node& node, const std::string& name, const Argument& value) {
    ArgumentMap kwargs = node.kwargs();
    for (auto& [key, old_value] : kwargs) {
      if (key == name) old_value = value;
    }
    node.set_kwargs(std::move(kwargs));
  };
  EXPECT_THROW(executable([&](Node& node) { set_kwarg(node, "_cache_base_index", 1); }), AotError);
  EXPECT_THROW(executable([&](Node& node) { set_kwarg(node, "_all_bases", Argument()); }),
               AotError);
  EXPECT_THROW(executable([&](Node& node) { node.set_arg(0, "not an operator"); }), AotError);
  EXPECT_THROW(executable([&](Node& node) {
                 ArgumentMap kwargs = node.kwargs();
                 kwargs.emplace_back("_cache_slice_dim", 0);
                 node.set_kwargs(std::move(kwargs));
               }),
               AotError);
}

}  // namespace
}  // namespace vitrine::aot
