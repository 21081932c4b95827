// Short tests of single passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"
#include "examples/models/model_builder.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/optimize/run_loop.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/expect_error.h"
#include "vitrine/half.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(ConvertMixedDtypes, ConvertsOperandsToCommonDtype) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kInt, {2});
  Node* y = build.input("y", ScalarType::kFloat, {2});
  Node* one = build.input("one", ScalarType::kLong, {});
  Node* sum = build.call("aten.add.Tensor", {x, y});
  Node* more = build.call("aten.add.Tensor", {x, one});
  ExportedProgram program = build.finish({sum, more});
  convert_mixed_dtypes(program);
  lint(program);
  // x is converted to f32 for the first addition, and `one` to i32 for the second. The dtype of
  // `one` has no effect on the common dtype, because `one` has rank 0.
  EXPECT_THAT(calls(program), ElementsAre("_to_copy", "add.Tensor", "_to_copy", "add.Tensor"));
  EXPECT_EQ(last_call(program).previous()->args()[0].node()->name(), "one");
  EXPECT_EQ(last_call(program).previous()->tensor()->dtype, ScalarType::kInt);
}

// Each step of the loop replaces (a, b) with (b, a + x) and outputs the old value of `a`.
TEST(CopyCarried, CarriedValuesCanMoveToAnotherPosition) {
  Body body;
  Node* a = body.input({1});
  Node* b = body.input({1});
  Node* x = body.input({1});
  Node* sum = body.call("aten.add.Tensor", {a, x}, {1});
  const TensorData xs = floats({3, 1}, {1, 10, 100});
  const auto found = run_loop("scan", {floats({1}, {1000}), floats({1}, {2000}), xs}, {2, 1, 0},
                              body.finish({b, sum, a}), {{1}, {1}, {3, 1}});
  // The carried values are (1000, 2000), (2000, 1001), (1001, 2010) and finally (2010, 1101).
  EXPECT_EQ(found, (std::vector<Values>{{2010}, {1101}, {1000, 2000, 1001}}));
}

// The loop swaps its carried values a and b an odd number of times.
TEST(CopyCarried, CarriedValuesCanSwapPositions) {
  Body body;
  Node* a = body.input({1});
  Node* b = body.input({1});
  Node* x = body.input({1});
  Node* row = body.call("aten.add.Tensor", {a, x}, {1});
  const TensorData xs = floats({3, 1}, {1, 2, 3});
  const auto found = run_loop("scan", {floats({1}, {10}), floats({1}, {20}), xs}, {2, 1, 0},
                              body.finish({b, a, row}), {{1}, {1}, {3, 1}});
  EXPECT_EQ(found, (std::vector<Values>{{20}, {10}, {11, 22, 13}}));
}

TEST(ElideViews, KeepsCopiesThatAreOutputs) {
  Net build({2, 3});
  Node* flat = build.call("aten.view.default", {build.x, std::vector<int64_t>{6}});
  Node* relu = build.call("aten.relu.default", {flat});
  Node* back = build.call("aten.view.default", {relu, std::vector<int64_t>{3, 2}});
  EXPECT_THAT(executable_calls(build, back), ElementsAre("view", "relu", "view_copy"));
}

// A channels-last image and its view have their elements in different orders.
TEST(ElideViews, KeepsCopiesOfChannelsLastImages) {
  ModelBuilder build("Net");
  Node* flat = build.call("aten.reshape.default",
                          {channels_last_image(build), std::vector<int64_t>{1, 2, 12}});
  Node* relu = build.call("aten.relu.default", {flat});
  EXPECT_THAT(executable_calls(build, relu), ElementsAre("_clone_dim_order", "view_copy", "relu"));
}

TEST(GenerateDebugHandles, AssignsOneHandlePerSourceNode) {
  Net build({2, 4});
  Node* weight = build.parameter("weight", {4, 4});
  Node* product = build.call("aten.linear.default", {build.x, weight});
  ExportedProgram program = edge_program(build, {build.call("aten.relu.default", {product})});
  std::vector<uint32_t> handles;
  for (const Node& node : program.graph->nodes()) {
    if (node.is_call()) handles.push_back(node.meta.debug_handle);
  }
  EXPECT_THAT(calls(program), ElementsAre("permute_copy", "mm", "relu"));
  EXPECT_THAT(handles, ElementsAre(1, 1, 2));
}

TEST(KeepOps, KeepsCallsThatTheFilterAccepts) {
  const auto lower = [](const EdgeOptions& options) {
    Net build({2, 4});
    Node* first = build.call("aten.linear.default", {build.x, build.parameter("a", {4, 4})});
    Node* second = build.call("aten.linear.default", {first, build.parameter("b", {3, 4})});
    ExportedProgram program = build.finish({build.call("aten.hardswish.default", {second})});
    to_edge(program, options);
    std::string names;
    for (const Node& node : program.graph->nodes()) {
      if (node.is_call()) names += std::string(node.target().op()) + " ";
    }
    return std::pair(std::move(program), names);
  };
  EdgeOptions options;
  OpsToKeep keep;
  keep.targets = {"aten.linear.default", "aten.add.Tensor", "aten.permute.default"};
  keep.keeps = [](const Node& node) {
    return !node.target().is("aten.linear.default") || node.tensor()->sizes.back() == SymInt(3);
  };
  options.ops_to_keep = {keep};
  const auto [program, names] = lower(options);
  EXPECT_EQ(
      names,
      "permute_copy mm linear _to_dim_order_copy add clamp clamp mul _to_dim_order_copy div ");
  EXPECT_THROW(require_kept_ops_lowered(program, options.ops_to_keep), AotError);
  EXPECT_NO_THROW(require_kept_ops_lowered(program, {}));
  options = {};
  options.preserve_ops = {"aten.hardswish.default"};
  EXPECT_EQ(lower(options).second, "permute_copy mm permute_copy mm hardswish ");
}

TEST(KeepOps, AcceptsUndelegatedQuantizeCalls) {
  Net build({2, 4});
  const char* quantize = "quantized_decomposed.quantize_per_tensor.default";
  ExportedProgram program =
      build.finish({build.call(quantize, {build.x, 0.5, 0, -128, 127, ScalarType::kChar})});
  EdgeOptions options;
  options.ops_to_keep = {{{quantize}, {}}};
  to_edge(program, options);
  EXPECT_NO_THROW(require_kept_ops_lowered(program, options.ops_to_keep));
}

TEST(MemoryFormatsToDimOrders, ReplacesMemoryFormatWithDimOrder) {
  Net build({1, 2, 3, 4});
  Node* copy =
      build.call("aten.clone.default", {build.x}, {{"memory_format", MemoryFormat::kChannelsLast}});
  ExportedProgram program = build.finish({copy});
  memory_formats_to_dim_orders(program);
  EXPECT_THAT(calls(program), ElementsAre("_clone_dim_order"));
  EXPECT_EQ(format_argument(*last_call(program).kwarg("dim_order")), "[0, 2, 3, 1]");
  EXPECT_EQ(last_call(program).kwarg("memory_format"), nullptr);
}

TEST(Pipelines, ViewsShareMemoryOnlyIfEnabled) {
  for (const bool elide_views : {false, true}) {
    Net build({2, 3});
    Node* flat = build.call("aten.view.default",
                            {build.call("aten.neg.default", {build.x}), std::vector<int64_t>{6}});
    ExportedProgram program = edge_program(build, {build.call("aten.relu.default", {flat})});
    to_executable(program, {.elide_views = elide_views, .reinplace = false});
    EXPECT_THAT(calls(program), ElementsAre("neg", elide_views ? "view" : "view_copy", "relu"));
  }
}

TEST(PropagateSpecs, UpdatesShapesAndDtypes) {
  Net build({2, 3});
  Node* permuted = build.call("aten.permute.default", {build.x, std::vector<int64_t>{1, 0}});
  Node* result = build.call("aten.relu.default", {permuted});
  ExportedProgram program = build.finish({result});
  build.x->meta.value = contiguous_spec(ScalarType::kHalf, {4, 5});
  propagate_specs(program);
  EXPECT_EQ(to_text(*permuted->tensor()), "f16[5, 4]");
  EXPECT_EQ(to_text(*result->tensor()), "f16[5, 4]");
}

// The number of selected elements depends on the values of the mask.
TEST(PropagateSpecs, DoesNotChangeSpecsOfMaskIndexing) {
  Net build({6});
  Node* mask = build.input("mask", ScalarType::kBool, {6});
  const TensorSpec spec = contiguous_spec(ScalarType::kFloat, {build.dynamic_size(0, 6)});
  Node* selected = build.call_as("aten.index.Tensor", {build.x, Argument::list({mask})}, {}, spec);
  ExportedProgram program = build.finish({selected});
  propagate_specs(program);
  EXPECT_EQ(to_text(*selected->tensor()), to_text(spec));
}

TEST(PropagateSpecs, ErrorNamesTheCall) {
  Net build({2, 3});
  Node* y = build.input("y", ScalarType::kFloat, {2, 3});
  ExportedProgram program = build.finish({build.call("aten.add.Tensor", {build.x, y})});
  y->meta.value = contiguous_spec(ScalarType::kFloat, {4});
  EXPECT_ERROR(AotError, propagate_specs(program), "node add");
}

ExportedProgram cache_program(bool reads_later) {
  Net build({1, 3});
  Node* at = build.input("at", ScalarType::kLong, {1});
  Node* cache = build.buffer("cache", zeros({4, 3}));
  Node* old = build.call("aten.clone.default", {cache});
  Node* written = build.call("aten.index_put_.default", {cache, Argument::list({at}), build.x});
  Node* sum = build.call("aten.add.Tensor", {written, old});
  return edge_program(build, {reads_later ? sum : written});
}

TEST(Reinplace, WritesInPlaceIfTheOldValueIsNotReadLater) {
  ExportedProgram program = cache_program(false);
  to_executable(program, {.elide_views = true, .reinplace = true});
  EXPECT_THAT(calls(program), ElementsAre("index_put_"));
  ExportedProgram without = cache_program(false);
  to_executable(without);
  EXPECT_THAT(calls(without), ElementsAre("index_put", "copy_"));
}

TEST(Reinplace, NeverOverwritesInputsThatTheProgramOnlyReads) {
  Net build({4, 3});
  Node* at = build.input("at", ScalarType::kLong, {1});
  Node* row = build.input("row", ScalarType::kFloat, {1, 3});
  ExportedProgram program = edge_program(
      build, {build.call("aten.index_put.default", {build.x, Argument::list({at}), row})});
  to_executable(program, {.elide_views = true, .reinplace = true});
  EXPECT_THAT(calls(program), ElementsAre("index_put"));
}

// A program that computes relu(max(x, 0).values). Its nodes have no recorded origin.
struct SourceProgram {
  ModelBuilder build{"Net"};
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* max = build.call_as("aten.max.dim", {x, 0}, {},
                            Value::Items{contiguous_spec(ScalarType::kFloat, {3}),
                                         contiguous_spec(ScalarType::kLong, {3})});
  Node* values = build.item(max, 0);
  Node* result = build.call("aten.relu.default", {values});
  ExportedProgram program = build.finish({result});

  SourceProgram() {
    for (Node* node : {max, values, result}) node->meta.origin = nullptr;
  }
};

TEST(RememberSources, CallsAndTheirGetitemsHaveTheCallAsSource) {
  SourceProgram p;
  remember_sources(p.program);
  const auto source = [](const Node* node) { return node->meta.origin->from_node.at(0); };
  EXPECT_EQ(source(p.max).name, p.max->name());
  EXPECT_EQ(source(p.max).target, "aten.max.dim");
  EXPECT_EQ(source(p.values).name, p.max->name());
  EXPECT_EQ(source(p.result).name, p.result->name());
  EXPECT_EQ(source(p.result).target, "aten.relu.default");
  EXPECT_EQ(p.x->meta.origin, nullptr) << "inputs are not calls";
}

TEST(RememberSources, KeepsSourcesThatNodesAlreadyHave) {
  SourceProgram p;
  auto origin = std::make_shared<Origin>();
  origin->from_node.emplace_back().name = "older";
  p.result->meta.origin = origin;
  remember_sources(p.program);
  EXPECT_EQ(p.result->meta.origin, origin);
}

TEST(RemoveAsserts, RemovesChecksAndTheirInputs) {
  Net build({2});
  Node* positive = build.call("aten.gt.Scalar", {build.x, 0});
  Node* all = build.call("aten.all.default", {positive});
  build.call_as("aten._assert_async.msg", {all, "negative"}, {}, {});
  ExportedProgram program = build.finish({build.call("aten.sqrt.default", {build.x})});
  remove_asserts(program);
  EXPECT_THAT(calls(program), ElementsAre("sqrt"));
}

TEST(RemoveDeadCode, KeepsCallsWithUsersOrSideEffects) {
  Net build({2});
  Node* state = build.buffer("state", zeros({2}));
  build.call("aten.exp.default", {build.call("aten.neg.default", {build.x})});
  build.call("aten.add_.Tensor", {state, build.x});
  ExportedProgram program = build.finish({build.call("aten.relu.default", {build.x})});
  remove_dead_code(program);
  EXPECT_THAT(calls(program), testing::ElementsAre("add_.Tensor", "relu"));
}

TEST(RemoveUnusedParameters, KeepsBuffers) {
  Net build({2});
  build.parameter("unused", zeros({2}));
  build.buffer("state", zeros({2}));
  ExportedProgram program = build.finish({build.call("aten.relu.default", {build.x})});
  remove_unused_parameters(program);
  lint(program);
  EXPECT_FALSE(program.state_dict.contains("unused"));
  EXPECT_TRUE(program.state_dict.contains("state"));
}

TEST(RemoveNoOps, RemovesNoOpsAndEmptyInputsOfCat) {
  Net build({2, 3});
  Node* empty = build.input("empty", ScalarType::kFloat, {0, 3});
  Node* full = build.call("aten.slice_copy.Tensor", {build.x, 0, 0, 2});
  Node* part = build.call("aten.slice_copy.Tensor", {full, 0, 0, 1});
  Node* same = build.call("aten._to_copy.default", {part}, {{"dtype", ScalarType::kFloat}});
  Node* other = build.call("aten._to_copy.default", {same}, {{"dtype", ScalarType::kHalf}});
  Node* joined = build.call("aten.cat.default", {Argument::list({empty, build.x, empty})});
  ExportedProgram program = build.finish({other, joined});
  remove_no_ops(program);
  lint(program);
  EXPECT_THAT(calls(program), ElementsAre("slice_copy.Tensor", "_to_copy", "cat"));
  EXPECT_EQ(last_call(program).args()[0].list()->size(), 1U);
}

TEST(ScalarsToTensors, LiftsOnlyNumbersPassedInPlaceOfTensors) {
  Net build({2});
  build.buffer("state", zeros({2}));
  Node* sum = build.call("aten.add.Tensor", {build.x, 2.5});
  ExportedProgram program = build.finish({build.call("aten.gt.Scalar", {sum, 1})});
  scalars_to_tensors(program);
  lint(program);
  // The program already has one buffer, so the name of the constant ends in 1.
  const Node* constant = program.graph->find("c__lifted_tensor_constant1");
  if (constant == nullptr) constant = program.graph->find("_lifted_tensor_constant1");
  ASSERT_NE(constant, nullptr) << format_graph(*program.graph);
  EXPECT_EQ(to_text(*constant->tensor()), "f32[]");
  EXPECT_EQ(*last_call(program).args()[1].get<int64_t>(), 1);
}

TEST(ScalarsToTensors, LiteralsInF64CallsAreF64) {
  const TensorData x = floats({2}, {1, 3});
  const TensorData found = run({x}, [](ModelBuilder& build, const Nodes& in) {
    Node* wide = build.call("aten.to.dtype", {in[0], ScalarType::kDouble});
    return build.call("aten.mul.Tensor", {wide, 0.1});
  })[0];
  EXPECT_EQ(found.dtype, ScalarType::kDouble);
  EXPECT_EQ(values_of(found), (Values{0.1, 3 * 0.1}));
}

TEST(ScalarsToTensors, KeepsNumbersThatF16CannotRepresentExactly) {
  const std::array<Half, 2> values = {Half(0.09375F), Half(-60000.0F)};
  std::vector<std::byte> bytes(sizeof values);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const TensorData x = make_tensor_data(ScalarType::kHalf, {2}, std::move(bytes));
  EXPECT_EQ(values_of(run({x}, one("aten.mul.Tensor", {1e5}))[0]), (Values{9376, -kInfinity}));
  EXPECT_EQ(values_of(run({x}, one("aten.add.Tensor", {70000}))[0]), (Values{kInfinity, 10000}));
  std::string operators;
  EXPECT_EQ(values_of(run({x}, one("aten.mul.Tensor", {0.5}), &operators)[0]),
            (Values{0.046875, -30000}));
  EXPECT_EQ(operators, "dim_order_ops._to_dim_order_copy.default aten.mul.Tensor ");
}

TEST(ToEdgeDialect, NamesCallsLikeFx) {
  Net build({2});
  Node* one = build.call("aten.scalar_tensor.default", {1.0});
  Node* sum = build.call("aten.add.Tensor", {build.x, one});
  ExportedProgram program = build.finish({sum});
  to_edge_dialect(program);
  EXPECT_EQ(sum->target().dialect(), Dialect::kEdge);
  EXPECT_EQ(sum->name(), "aten_add_tensor");
  EXPECT_EQ(program.signature.outputs[0].name, sum->name());
  EXPECT_EQ(one->target().dialect(), Dialect::kAten)
      << "operators on numbers keep their ATen targets";
}

TEST(ToEdgeDialect, SubgraphsAreNumberedInOrderOfUse) {
  Net build({2});
  ExportedProgram program = build.finish({build.call("aten.relu.default", {build.x})});
  Graph& graph = *program.graph;
  for (const char* name : {"z_graph", "a_graph"}) {
    auto inner = std::make_unique<Graph>();
    Node* input = inner->placeholder("input");
    input->meta.value = *build.x->tensor();
    const Target target = Target::of(*name == 'z' ? "aten.neg.default" : "aten.exp.default");
    inner->set_output(Argument::tuple({inner->call(target, {input})}));
    graph.subgraphs()[name] = std::move(inner);
    graph.get_attr(name, graph.output());
  }
  to_edge_dialect(program);
  ASSERT_THAT(graph.subgraphs(),
              testing::ElementsAre(testing::Key("submodule_0"), testing::Key("submodule_1")));
  const Node* call = graph.subgraphs().at("submodule_0")->output()->previous();
  EXPECT_TRUE(call->target().is("aten.neg.default"));
  EXPECT_EQ(call->target().dialect(), Dialect::kEdge);
  EXPECT_EQ(call->name(), "aten_neg_default");
}

// x.t_() transposes x in place without moving elements. Later calls read the transposed x.
TEST(UnifyWrites, ReplacesInPlaceViews) {
  const auto found =
      run({floats({2, 3}, {1, 2, 3, 4, 5, 6})}, [](ModelBuilder& build, const Nodes& in) {
        Node* copy = build.call("aten.clone.default", {in[0]});
        build.call_as("aten.t_.default", {copy}, {}, contiguous_spec(ScalarType::kFloat, {3, 2}));
        Node* row = build.call_as("aten.select.int", {copy, 0, 1}, {},
                                  contiguous_spec(ScalarType::kFloat, {2}));
        build.call("aten.mul_.Tensor", {row, 10});
        return build.call_as("aten.add.Tensor", {copy, 0}, {},
                             contiguous_spec(ScalarType::kFloat, {3, 2}));
      });
  EXPECT_EQ(values_of(found[0]), (Values{1, 4, 20, 50, 3, 6}));
}

TEST(UnifyWrites, ReplacesInPlaceOperatorsOfPython) {
  const std::vector<TensorData> inputs = {integers({3}, {1, 2, 4}), integers({3}, {3, 3, 3})};
  EXPECT_EQ(written(inputs,
                    [](ModelBuilder& build, Node* copy, const std::vector<Node*>& in) {
                      build.call_as("aten.__ior__.Tensor", {copy, in[1]}, {}, *copy->tensor());
                      build.call_as("aten.__ixor__.Scalar", {copy, 1}, {}, *copy->tensor());
                    }),
            (Values{2, 2, 6}));
}

// The functional forms of these in-place operators have other overload names or argument types.
TEST(UnifyWrites, FindsFunctionalFormsWithDifferentNames) {
  const std::vector<TensorData> x = {floats({3}, {1, 2, 3}), floats({3}, {2, 1, 0})};
  const auto by = [&](const char* target, bool with_tensor) {
    return written(x, [=](ModelBuilder& build, Node* copy, const Nodes& in) {
      build.call_as(target, {copy, with_tensor ? Argument(in[1]) : Argument(2)}, {},
                    *copy->tensor());
    });
  };
  EXPECT_EQ(by("aten.pow_.Scalar", false), (Values{1, 4, 9}));
  EXPECT_EQ(by("aten.pow_.Tensor", true), (Values{1, 2, 1}));
  EXPECT_EQ(by("aten.floor_divide_.Tensor", false), (Values{0, 1, 1}));
  EXPECT_EQ(by("aten.ldexp_.default", true), (Values{4, 4, 3}));
}

TEST(ViewsToCopies, CopiesAreContiguous) {
  Net build({2, 3});
  Node* permuted = build.call("aten.permute.default", {build.x, std::vector<int64_t>{1, 0}});
  ASSERT_EQ(permuted->tensor()->strides, (std::vector<SymInt>{1, 3}));
  ExportedProgram program = build.finish({permuted});
  views_to_copies(program);
  EXPECT_THAT(calls(program), ElementsAre("permute_copy"));
  EXPECT_EQ(last_call(program).tensor()->strides, (std::vector<SymInt>{2, 1}));
}

}  // namespace
}  // namespace vitrine::aot
