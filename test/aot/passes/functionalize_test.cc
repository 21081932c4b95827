// Tests operators that write to arguments. Passes replace their calls with functional calls, and
// later make these calls write in place again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/passes/auto_functionalized.h"
#include "aot/passes/pipelines.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/cache_update.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(Functionalize, ViewsSeeLaterWrites) {
  const std::vector<TensorData> x = {floats({2, 2}, {1, 2, 3, 4})};
  const auto found = run(x, [](ModelBuilder& build, const Nodes& in) {
    Node* copy = build.call("aten.clone.default", {in[0]});
    Node* row = build.call("aten.select.int", {copy, 0, 0});
    Node* before = build.call("aten.mul.Tensor", {row, 1});  // does not share memory
    build.call("aten.add_.Tensor", {copy, 10});
    return build.call("aten.add.Tensor", {row, before});
  });
  expect_near(found[0], {12, 14});
}

TEST(Functionalize, KeepsDtypeOfWrittenTensor) {
  const TensorData x = make_tensor_data(ScalarType::kInt, {2}, std::vector<std::byte>(8));
  const TensorData y = integers({2}, {5, 7});
  const auto found = run({x, y}, [](ModelBuilder& build, const Nodes& in) {
    Node* copy = build.call("aten.clone.default", {in[0]});
    const TensorSpec spec = contiguous_spec(ScalarType::kInt, {2});
    build.call_as("aten.add_.Tensor", {copy, in[1]}, {}, spec);
    return build.call_as("aten.mul.Tensor", {copy, 3}, {}, spec);
  });
  EXPECT_EQ(found[0].dtype, ScalarType::kInt);
  EXPECT_EQ(values_of(found[0]), (Values{15, 21}));
  // An in-place comparison writes its result as numbers, not as bools.
  EXPECT_EQ(written({floats({3}, {1, -1, 0})},
                    [](ModelBuilder& build, Node* copy, const Nodes&) {
                      build.call_as("aten.gt_.Scalar", {copy, 0}, {}, *copy->tensor());
                    }),
            (Values{1, 0, 0}));
}

TEST(Functionalize, SupportsIndexedWrites) {
  const std::vector<TensorData> inputs = {floats({3, 2}, {1, 2, 3, 4, 5, 6}), integers({2}, {2, 0}),
                                          floats({2, 2}, {10, 20, 30, 40})};
  const auto expect_written = [&](const Values& expected, const Write& write) {
    EXPECT_EQ(written(inputs, write), expected);
  };
  expect_written({30, 40, 3, 4, 10, 20}, [](ModelBuilder& build, Node* copy, const Nodes& in) {
    build.call("aten.index_copy_.default", {copy, 0, in[1], in[2]});
  });
  expect_written({31, 42, 3, 4, 15, 26}, [](ModelBuilder& build, Node* copy, const Nodes& in) {
    Node* row = build.call("aten.narrow.default", {copy, 0, 0, 3});
    build.call("aten.index_add_.default", {row, 0, in[1], in[2]});
  });
  expect_written({0, 0, 3, 4, 0, 0}, [](ModelBuilder& build, Node* copy, const Nodes& in) {
    build.call("aten.index_fill_.int_Scalar", {copy, 0, in[1], 0.0});
  });
}

TEST(Functionalize, RejectsWrittenArgumentsThatShareMemory) {
  const Build make = [](ModelBuilder& build, const Nodes& in) {
    Node* cache = build.call("aten.clone.default", {in[0]});
    return build.call_as("llama.sdpa_with_kv_cache.default",
                         {in[1], in[1], in[1], cache, cache, 0, 1}, {}, *in[1]->tensor());
  };
  EXPECT_ERROR(AotError, run({kCache, kRow}, make), "two arguments that share memory");
}

// Adds 10 in place to the tensor that `make` computes from the operand. Returns the elements of the
// operand after the write.
Values operand_after_write(const TensorData& operand, const Build& make) {
  return written({operand}, [&](ModelBuilder& build, Node* copy, const Nodes&) {
    build.call("aten.add_.Tensor", {make(build, {copy}), 10});
  });
}

// Calls an operator that returns values and indices of the sizes {2, 1}. Uses only the values.
Build values_from(const char* target, ArgumentList args) {
  const Build both = one_as(target, std::move(args), values_and_indices({2, 1}));
  return [both](ModelBuilder& build, const Nodes& in) { return build.item(both(build, in), 0); };
}

// In PyTorch, these operators return new tensors. Their decompositions alone would return the
// operand or a view of it.
TEST(Functionalize, CopiesAndTheirOperandsDoNotShareMemory) {
  const auto expect_unchanged = [](const TensorData& operand, const Build& make) {
    EXPECT_EQ(operand_after_write(operand, make), values_of(operand));
  };
  const TensorData x = floats({2, 2}, {1, 2, 3, 4});
  const TensorSpec same = contiguous_spec(ScalarType::kFloat, {2, 2});
  const ArgumentMap copy = {{"copy", true}};
  expect_unchanged(x, one_as("aten.to.dtype", {ScalarType::kFloat, false, true}, same));
  expect_unchanged(x, one_as("aten.to.device", {Device(), ScalarType::kFloat}, same, copy));
  expect_unchanged(x, one_as("aten.chain_matmul.default", {Argument::list({"$"})}, same));
  expect_unchanged(x, one_as("aten.diag.default", {}, contiguous_spec(ScalarType::kFloat, {2})));
  expect_unchanged(x, one_as("aten.diag.default", {1}, contiguous_spec(ScalarType::kFloat, {1})));
  expect_unchanged(integers({2}, {1, 2}),
                   one_as("aten.nan_to_num.default", {}, contiguous_spec(ScalarType::kLong, {2})));
  const TensorData column = floats({2, 1}, {1, 2});
  expect_unchanged(column, one_as("aten.logcumsumexp.default", {1},
                                  contiguous_spec(ScalarType::kFloat, {2, 1})));
  expect_unchanged(column, values_from("aten.cummax.default", {1}));
  expect_unchanged(column, values_from("aten.cummin.default", {1}));
}

// In PyTorch, these operators return the operand or a view of it, although their signatures declare
// a new tensor.
TEST(Functionalize, ResultsThatAliasInPyTorchShareMemory) {
  const TensorData x = floats({2, 2}, {1, 2, 3, 4});
  const TensorSpec same = contiguous_spec(ScalarType::kFloat, {2, 2});
  const Values both = {11, 12, 13, 14};
  EXPECT_EQ(operand_after_write(x, one_as("aten.dropout.default", {0.5, false}, same)), both);
  EXPECT_EQ(operand_after_write(x, one_as("aten.atleast_1d.default", {}, same)), both);
  EXPECT_EQ(operand_after_write(x, one_as("aten.to.dtype", {ScalarType::kFloat}, same)), both);
}

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
  const auto found = [&](int which) {
    return run({kCache, one}, [&](ModelBuilder& build, const Nodes& in) {
      Node* keys = build.call("aten.mul.Tensor", {in[0], 0});
      Node* values = build.call("aten.mul.Tensor", {in[0], 3});
      Node* result = build.call_as("llama.sdpa_with_kv_cache.default",
                                   {in[1], in[1], in[1], keys, values, 0, 1}, {},
                                   contiguous_spec(ScalarType::kFloat, {1, 1, 1, 2}));
      return which == 0 ? keys : which == 1 ? values : result;
    })[0];
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

Values updated(const Write& write) { return written({kCache, kRow}, write); }

TEST(WriteInPlace, WritesReachTheCacheInOrderAndThroughViews) {
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

// The written tensor is a result of topk that a getitem selects. The pass assumes that the result
// of a getitem does not own its memory.
TEST(WriteInPlace, CopiesTensorsThatDoNotOwnTheirMemory) {
  const Build build_it = [](ModelBuilder& build, const Nodes& in) {
    Node* sorted =
        build.call_as("aten.topk.default", {in[0], 2, 3}, {}, values_and_indices({1, 3, 1, 2}));
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
  ExportedProgram program = edge_program(build, {build.call("aten.relu.default", {row})});
  to_executable(program);
  EXPECT_THAT(calls(program), Contains("update_cache"));
}

TEST(ViewInverses, WritesThroughViewsReachTheBase) {
  const TensorData x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto expect_written = [&](const Values& expected, const Write& write) {
    EXPECT_EQ(written({x}, write), expected);
  };
  expect_written({1, 2, 3, 40, 50, 60}, [](ModelBuilder& build, Node* t, const Nodes&) {
    build.call("aten.mul_.Tensor", {build.call("aten.select.int", {t, 0, 1}), 10});
  });
  expect_written({1, 0, 0, 4, 0, 0}, [](ModelBuilder& build, Node* t, const Nodes&) {
    build.call("aten.fill_.Scalar", {build.call("aten.slice.Tensor", {t, 1, 1, 3}), 0});
  });
  expect_written({1, 2, 3, 4, -5, -6}, [](ModelBuilder& build, Node* t, const Nodes&) {
    Node* flat = build.call("aten.view.default", {t, Dims{6}});
    build.call("aten.neg_.default", {build.call("aten.slice.Tensor", {flat, 0, 4, 6})});
  });
  expect_written({101, 2, 3, 104, 5, 6}, [](ModelBuilder& build, Node* t, const Nodes&) {
    Node* transposed = build.call("aten.transpose.int", {t, 0, 1});
    build.call("aten.add_.Tensor", {build.call("aten.select.int", {transposed, 0, 0}), 100});
  });
  expect_written({0, 0, 0, 0, 0, 0}, [](ModelBuilder& build, Node* t, const Nodes&) {
    Node* wide = build.call("aten.unsqueeze.default", {t, 0});
    Node* narrow = build.call("aten.squeeze.dim", {wide, 0});
    build.call("aten.relu_.default", {build.call("aten.neg_.default", {narrow})});
  });
  // These calls write only to a diagonal of the tensor.
  expect_written({1, 20, 3, 4, 5, 60}, [](ModelBuilder& build, Node* t, const Nodes&) {
    build.call("aten.mul_.Tensor", {build.call("aten.diagonal.default", {t, 1}), 10});
  });
  const auto fill_diagonal = [](ModelBuilder& build, Node* t, const Nodes&) {
    build.call_as("aten.fill_diagonal_.default", {t, 9.0}, {}, *t->tensor());
  };
  expect_written({9, 2, 3, 4, 9, 6}, fill_diagonal);
  EXPECT_EQ(written({floats({2, 2}, {1, 2, 3, 4})}, fill_diagonal), (Values{9, 2, 3, 9}));
}

TEST(ViewInverses, RejectsWritesThroughUnsupportedViews) {
  Net build({2, 2});
  Node* copy = build.call("aten.clone.default", {build.x});
  Node* windows = build.call("aten.unfold.default", {copy, 0, 1, 1});
  build.call("aten.fill_.Scalar", {windows, 0});
  ExportedProgram program = build.finish({copy});
  EXPECT_ERROR(AotError, to_edge(program), "writes through the view aten.unfold.default");
}

// The inverse of the view reads a symbolic size from the tensor.
TEST(ViewInverses, SupportsViewsWithSymbolicSizes) {
  ModelBuilder build("Net");
  const SymInt rows = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {rows, 4});
  Node* copy = build.call("aten.clone.default", {x});
  Node* split = build.call_as("aten.view.default", {copy, Dims{-1, 2, 2}}, {},
                              contiguous_spec(ScalarType::kFloat, {rows, 2, 2}));
  Node* half = build.call("aten.select.int", {split, 1, 0});
  build.call("aten.fill_.Scalar", {half, 0});
  ExportedProgram program = edge_program(build, {copy});
  const std::vector<TensorData> inputs = {floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})};
  EXPECT_EQ(values_of(evaluate(program, inputs)[0]), (Values{0, 0, 3, 4, 0, 0, 7, 8}));
}

}  // namespace
}  // namespace vitrine::aot
