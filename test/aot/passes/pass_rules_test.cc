// Each pass's own rules, on graphs made for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "aot/builder/model_builder.h"
#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> calls(const ExportedProgram& program) {
  std::vector<std::string> names;
  for (const Node& node : program.graph->nodes()) {
    if (node.is_call()) {
      const std::string overload(node.target().overload());
      names.push_back(std::string(node.target().op()) +
                      (overload.empty() || overload == "default" ? "" : "." + overload));
    }
  }
  return names;
}

// What a model with this result becomes.
std::vector<std::string> executable_calls(ModelBuilder& build, Node* result) {
  ExportedProgram program = build.finish({result});
  to_edge(program);
  to_executable(program);
  return calls(program);
}

Node* channels_last_image(ModelBuilder& build) {
  Node* x = build.input("x", ScalarType::kFloat, {1, 2, 3, 4});
  return build.call("aten.clone.default", {x}, {{"memory_format", MemoryFormat::kChannelsLast}});
}

const Node& last_call(const ExportedProgram& program) {
  return *program.graph->output()->previous();
}

TensorData zeros(std::vector<int64_t> sizes) {
  size_t bytes = sizeof(float);
  for (const int64_t size : sizes) bytes *= static_cast<size_t>(size);
  return make_tensor_data(ScalarType::kFloat, std::move(sizes), std::vector<std::byte>(bytes));
}

TEST(RemoveUnusedParameters, LeavesBuffers) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  build.parameter("unused", zeros({2}));
  build.buffer("state", zeros({2}));
  ExportedProgram program = build.finish({build.call("aten.relu.default", {x})});
  remove_unused_parameters(program);
  lint(program);
  EXPECT_FALSE(program.state_dict.contains("unused"));
  EXPECT_TRUE(program.state_dict.contains("state"));
}

TEST(ViewsToCopies, CopiesAreDense) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* turned = build.call("aten.permute.default", {x, std::vector<int64_t>{1, 0}});
  ASSERT_EQ(turned->tensor()->strides, (std::vector<SymInt>{1, 3}));
  ExportedProgram program = build.finish({turned});
  views_to_copies(program);
  EXPECT_THAT(calls(program), ElementsAre("permute_copy"));
  EXPECT_EQ(last_call(program).tensor()->strides, (std::vector<SymInt>{2, 1}));
}

TEST(ScalarsToTensors, LiftsNumbersOfTensorOperandsAlone) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  build.buffer("state", zeros({2}));
  Node* sum = build.call("aten.add.Tensor", {x, 2.5});
  ExportedProgram program = build.finish({build.call("aten.gt.Scalar", {sum, 1})});
  scalars_to_tensors(program);
  lint(program);
  // The number goes on from that of the buffers.
  const Node* constant = program.graph->find("c__lifted_tensor_constant1");
  if (constant == nullptr) constant = program.graph->find("_lifted_tensor_constant1");
  ASSERT_NE(constant, nullptr) << format_graph(*program.graph);
  EXPECT_EQ(to_text(*constant->tensor()), "f32[]");
  EXPECT_EQ(*last_call(program).args()[1].get<int64_t>(), 1);
}

TEST(ConvertMixedDtypes, ConvertsToTheTypeOfBoth) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kInt, {2});
  Node* y = build.input("y", ScalarType::kFloat, {2});
  Node* one = build.input("one", ScalarType::kLong, {});
  Node* sum = build.call("aten.add.Tensor", {x, y});
  Node* more = build.call("aten.add.Tensor", {x, one});
  ExportedProgram program = build.finish({sum, more});
  convert_mixed_dtypes(program);
  lint(program);
  // Of x and y, x; of x and a tensor without dims of the same kind, that.
  EXPECT_THAT(calls(program), ElementsAre("_to_copy", "add.Tensor", "_to_copy", "add.Tensor"));
  EXPECT_EQ(last_call(program).previous()->args()[0].node()->name(), "one");
  EXPECT_EQ(last_call(program).previous()->tensor()->dtype, ScalarType::kInt);
}

TEST(RemoveNoOps, RemovesWhatChangesNothing) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* none = build.input("none", ScalarType::kFloat, {0, 3});
  Node* whole = build.call("aten.slice_copy.Tensor", {x, 0, 0, 2});
  Node* part = build.call("aten.slice_copy.Tensor", {whole, 0, 0, 1});
  Node* same = build.call("aten._to_copy.default", {part}, {{"dtype", ScalarType::kFloat}});
  Node* other = build.call("aten._to_copy.default", {same}, {{"dtype", ScalarType::kHalf}});
  Node* joined = build.call("aten.cat.default", {Argument::list({none, x, none})});
  ExportedProgram program = build.finish({other, joined});
  remove_no_ops(program);
  lint(program);
  EXPECT_THAT(calls(program), ElementsAre("slice_copy.Tensor", "_to_copy", "cat"));
  EXPECT_EQ(last_call(program).args()[0].list()->size(), 1U);
}

TEST(RemoveAsserts, RemovesChecksAndWhatOnlyTheyNeed) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  Node* positive = build.call("aten.gt.Scalar", {x, 0});
  Node* all = build.call("aten.all.default", {positive});
  build.call_as("aten._assert_async.msg", {all, "negative"}, {}, {});
  ExportedProgram program = build.finish({build.call("aten.sqrt.default", {x})});
  remove_asserts(program);
  EXPECT_THAT(calls(program), ElementsAre("sqrt"));
}

TEST(MemoryFormatsToDimOrders, TellsTheResultsOrder) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, 2, 3, 4});
  Node* copy =
      build.call("aten.clone.default", {x}, {{"memory_format", MemoryFormat::kChannelsLast}});
  ExportedProgram program = build.finish({copy});
  memory_formats_to_dim_orders(program);
  EXPECT_THAT(calls(program), ElementsAre("_clone_dim_order"));
  EXPECT_EQ(format_argument(*last_call(program).kwarg("dim_order")), "[0, 2, 3, 1]");
  EXPECT_EQ(last_call(program).kwarg("memory_format"), nullptr);
}

TEST(GenerateDebugHandles, NumbersSources) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 4});
  Node* weight = build.parameter("weight", {4, 4});
  Node* product = build.call("aten.linear.default", {x, weight});
  ExportedProgram program = build.finish({build.call("aten.relu.default", {product})});
  to_edge(program);
  std::vector<uint32_t> handles;
  for (const Node& node : program.graph->nodes()) {
    if (node.is_call()) handles.push_back(node.meta.debug_handle);
  }
  EXPECT_THAT(calls(program), ElementsAre("permute_copy", "mm", "relu"));
  EXPECT_THAT(handles, ElementsAre(1, 1, 2));
}

ExportedProgram cache_program(bool reads_later) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, 3});
  Node* at = build.input("at", ScalarType::kLong, {1});
  Node* cache = build.buffer("cache", zeros({4, 3}));
  Node* old = build.call("aten.clone.default", {cache});
  Node* written = build.call("aten.index_put_.default", {cache, Argument::list({at}), x});
  Node* sum = build.call("aten.add.Tensor", {written, old});
  ExportedProgram program = build.finish({reads_later ? sum : written});
  to_edge(program);
  return program;
}

TEST(Reinplace, WritesWhereNothingReadsLater) {
  ExportedProgram program = cache_program(false);
  to_executable(program, {.elide_views = true, .reinplace = true});
  EXPECT_THAT(calls(program), ElementsAre("index_put_"));
  ExportedProgram without = cache_program(false);
  to_executable(without);
  EXPECT_THAT(calls(without), ElementsAre("index_put", "copy_"));
}

TEST(Reinplace, LeavesInputsThatTheProgramDoesNotMutate) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {4, 3});
  Node* at = build.input("at", ScalarType::kLong, {1});
  Node* row = build.input("row", ScalarType::kFloat, {1, 3});
  ExportedProgram program =
      build.finish({build.call("aten.index_put.default", {x, Argument::list({at}), row})});
  to_edge(program);
  to_executable(program, {.elide_views = true, .reinplace = true});
  EXPECT_THAT(calls(program), ElementsAre("index_put"));
}

TEST(ElideViews, CopiesWhatIsAResult) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* flat = build.call("aten.view.default", {x, std::vector<int64_t>{6}});
  Node* relu = build.call("aten.relu.default", {flat});
  Node* back = build.call("aten.view.default", {relu, std::vector<int64_t>{3, 2}});
  EXPECT_THAT(executable_calls(build, back), ElementsAre("view", "relu", "view_copy"));
}

// Its elements lie in another order than those of the view.
TEST(ElideViews, CopiesWhatLiesChannelsLast) {
  ModelBuilder build("Net");
  Node* flat = build.call("aten.reshape.default",
                          {channels_last_image(build), std::vector<int64_t>{1, 2, 12}});
  Node* relu = build.call("aten.relu.default", {flat});
  EXPECT_THAT(executable_calls(build, relu), ElementsAre("_clone_dim_order", "view_copy", "relu"));
}

TEST(Decompose, GroupNormsOfChannelsLastImagesAreRowMajor) {
  ModelBuilder build("Net");
  Node* image = channels_last_image(build);
  Node* norm = build.call_as("aten.group_norm.default", {image, 1}, {}, *image->tensor());
  EXPECT_THAT(executable_calls(build, norm),
              ElementsAre("_clone_dim_order", "_clone_dim_order", "native_group_norm", "getitem",
                          "_clone_dim_order"));
}

TEST(Decompose, NamesWhatItDoesNotKnow) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 2});
  Node* inverse = build.call_as("aten.linalg_inv.default", {x}, {}, x->meta.value);
  ExportedProgram program = build.finish({inverse});
  try {
    to_edge(program);
    FAIL() << "was taken";
  } catch (const AotError& error) {
    EXPECT_THAT(error.what(), HasSubstr("decompose: node linalg_inv (aten.linalg_inv.default), "
                                        "pass_rules_test.cc:"));
    EXPECT_THAT(error.what(), HasSubstr(": no decomposition is known, and no kernel computes it"));
  }
}

// y = f(x), where f is a graph: (a) -> (relu(a), neg(relu(a))).
ExportedProgram wrapped_in(const char* wrapper, const ArgumentList& mode) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  Node* sum = build.call("aten.add.Tensor", {x, x});
  const TensorSpec spec = *x->tensor();
  ExportedProgram program = build.finish({sum});
  auto body = std::make_unique<Graph>();
  Node* a = body->placeholder("a");
  a->meta.value = spec;
  Node* positive = body->call(Target::of("aten.relu.default"), {a});
  positive->meta.value = spec;
  Node* negative = body->call(Target::of("aten.neg.default"), {positive});
  negative->meta.value = spec;
  body->set_output(Argument::tuple({positive, negative}));
  Graph& graph = *program.graph;
  Node* place = graph.output();
  Node* attribute = graph.get_attr("submod_1", place);
  graph.subgraphs()[attribute->attribute()] = std::move(body);
  ArgumentList args = mode;
  args.emplace_back(attribute);
  args.emplace_back(graph.find(sum->name()));
  Node* call = graph.call(Target::of(wrapper, Dialect::kHigherOrder), args, {}, place);
  call->meta.value = Value::Items{spec, spec};
  Node* second = graph.call(getitem(), {call, 1}, {}, place);
  second->meta.value = spec;
  graph.output()->set_args({Argument::tuple({second})});
  program.signature.outputs[0].name = second->name();
  return program;
}

TEST(InlineWrapped, ModesLeaveTheirCalls) {
  std::vector<ExportedProgram> programs;
  programs.push_back(wrapped_in("wrap_with_set_grad_enabled", {false}));
  programs.push_back(wrapped_in("wrap_with_autocast", {"cpu", Argument(), false, Argument()}));
  for (ExportedProgram& program : programs) {
    inline_wrapped(program);
    lint(program);
    EXPECT_THAT(calls(program), ElementsAre("add.Tensor", "relu", "neg"));
    EXPECT_TRUE(program.graph->subgraphs().empty());
    EXPECT_EQ(program.signature.outputs[0].name, "neg");
  }
}

TEST(InlineWrapped, RefusesWhatComputesInAnotherDtype) {
  ExportedProgram program = wrapped_in("wrap_with_autocast", {"cpu", Argument(), true, Argument()});
  EXPECT_THROW(inline_wrapped(program), AotError);
}

// A size that only a tensor tells becomes a call that asks it.
TEST(Decompose, AsksForSymbolicSizes) {
  ModelBuilder build("Net");
  const SymInt batch = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {batch, 3, 4});
  Node* weight = build.parameter("weight", {5, 4});
  Node* bias = build.parameter("bias", {5});
  ExportedProgram program = build.finish({build.call("aten.linear.default", {x, weight, bias})});
  to_edge(program);
  EXPECT_THAT(calls(program), ElementsAre("sym_size.int", "mul", "view_copy", "permute_copy",
                                          "addmm", "view_copy"));
  EXPECT_EQ(to_text(*last_call(program).tensor()), "f32[s0, 3, 5]");
}

}  // namespace
}  // namespace vitrine::aot
