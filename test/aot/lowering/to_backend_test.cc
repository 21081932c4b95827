// Tests of lowering tagged programs.
#include "aot/lowering/to_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/print.h"
#include "test/aot/lowering/program_builder.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using test::expect_rejected;
using test::input_names;
using test::module;
using test::ProgramBuilder;
using test::tagging;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ToBackend, PartitionsBecomeCallsWithNewDebugHandles) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.erf.default", {a});
  Node* d = b.call("aten.relu.default", {c});
  ExportedProgram& program = b.finish({d});
  to_backend(program, tagging({{"aten_relu_default", "tag1"}, {"aten_relu_default_1", "tag0"}}));
  const std::vector<LoweredSubmodule> lowered = get_lowered_submodules(*program.graph);
  ASSERT_THAT(lowered, SizeIs(2));
  EXPECT_EQ(lowered[0].name, "lowered_module_0");
  EXPECT_EQ(lowered[0].call->name(), "executorch_call_delegate");
  EXPECT_EQ(lowered[0].module->original.graph->find("aten_relu_default")->meta.debug_handle, 1U);
  // The largest handle left in the graph is 2, that of erf.
  EXPECT_EQ(lowered[0].call->meta.debug_handle, 3U);
  EXPECT_EQ(lowered[1].call->meta.debug_handle, 4U);
  EXPECT_EQ(format_node(*program.graph->output()), "return (getitem,)");  // tag0 is extracted first
  for (const Node& node : program.graph->nodes()) EXPECT_EQ(node.meta.delegation_tag, "");
}

TEST(ToBackend, BackendGetsCopyOfProgramAndCompileSpecs) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  b.returns(a);
  const CompileSpec spec{"level", {std::byte{'3'}}};
  const auto lowered = to_backend(test::NamedBackend("Named"), b.finish(), {&spec, 1});
  EXPECT_EQ(lowered->backend_id, "Named");
  EXPECT_EQ(lowered->payload->size(), 6U);
  EXPECT_THAT(lowered->compile_specs, ElementsAre(spec));
  EXPECT_TRUE(lowered->original.graph->find("aten_relu_default")->target().is("aten.relu.default"));
  EXPECT_TRUE(a->target().is("aten.relu.default"));
}

TEST(ToBackend, RejectsUnlistedTagsAndTagsOnInputsOrOutputs) {
  ProgramBuilder b;
  ExportedProgram& program = b.finish({b.call("aten.relu.default", {b.input("x")})});
  expect_rejected(program, {{"x", "t"}, {"aten_relu_default", "t"}},
                  HasSubstr("node x: is tagged t, but it is a user input"));
  expect_rejected(program, {{"output", "t"}}, HasSubstr("the output must not be tagged"));
  const test::FunctionPartitioner unlisted([](ExportedProgram& each) {
    each.graph->find("aten_relu_default")->meta.delegation_tag = "t";
    return PartitionResult();
  });
  EXPECT_ERROR(AotError, to_backend(program, unlisted), "does not list the tag t");
}

TEST(ToBackend, RejectsPartitionerThatChangesGraph) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  ExportedProgram& program = b.finish({a});
  const test::FunctionPartitioner changing([](ExportedProgram& each) {
    each.graph->find("aten_relu_default")->set_target(Target::of("aten.abs.default"));
    return PartitionResult();
  });
  ToBackendOptions unchecked;
  unchecked.check_partitioner = false;
  EXPECT_NO_THROW(to_backend(program, changing, unchecked));
  a->set_target(Target::of("aten.relu.default", Dialect::kEdge));
  EXPECT_ERROR(AotError, to_backend(program, changing),
               "aten_relu_default: the partitioner changed this node");
}

// In the second program, each partition is convex, but together they form a cycle.
TEST(ToBackend, RejectsCyclicAndMutuallyDependentPartitions) {
  ProgramBuilder cyclic;
  Node* first = cyclic.call("aten.relu.default", {cyclic.input("x")});
  Node* between = cyclic.call("aten.erf.default", {first});
  expect_rejected(cyclic.finish({cyclic.call("aten.add.Tensor", {first, between})}),
                  {{"aten_relu_default", "t"}, {"aten_add_tensor", "t"}},
                  HasSubstr("partition t: the nodes cannot be one call"));
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.relu.default", {x});
  Node* after_a = b.call("aten.abs.default", {a});
  Node* after_c = b.call("aten.abs.default", {c});
  expect_rejected(b.finish({after_a, after_c}),
                  {{"aten_relu_default", "t"},
                   {"aten_abs_default_1", "t"},
                   {"aten_relu_default_1", "u"},
                   {"aten_abs_default", "u"}},
                  HasSubstr("partition u: the nodes cannot be one call"));
}

TEST(ToBackend, SupportsSeveralBackendsInOneProgram) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.abs.default", {a});
  ExportedProgram& program = b.finish({b.call("aten.relu.default", {c})});
  const test::FunctionPartitioner two([](ExportedProgram& each) {
    PartitionResult result;
    const auto backend = [](const char* id) { return std::make_shared<test::NamedBackend>(id); };
    each.graph->find("aten_relu_default")->meta.delegation_tag = "a";
    each.graph->find("aten_abs_default")->meta.delegation_tag = "b";
    result.tags["a"] = {backend("First"), {}};
    result.tags["b"] = {backend("Second"), {}};
    result.tags["nothing"] = {backend("Third"), {}};  // skipped, since no node has this tag
    return result;
  });
  to_backend(program, two);
  EXPECT_EQ(module(program, "lowered_module_0").backend_id, "First");
  EXPECT_EQ(module(program, "lowered_module_1").backend_id, "Second");
  EXPECT_THAT(get_lowered_backend_modules(*program.graph), SizeIs(2));
}

TEST(ToBackend, RunsPartitionersInOrderAndReportsOnlyUndelegatedNodes) {
  ProgramBuilder b;
  Node* x = b.input("x");
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.abs.default", {a});
  Node* d = b.call("aten.erf.default", {c});
  ExportedProgram& program = b.finish({d});
  const auto delegating = [](const char* target, const char* id) {
    return std::make_shared<const test::FunctionPartitioner>([target, id](ExportedProgram& each) {
      PartitionResult result;
      for (Node& node : each.graph->nodes()) {
        if (!node.is_call() || node.target().dialect() != Dialect::kEdge) continue;
        if (node.target().is(target)) {
          node.meta.delegation_tag = "tag0";
        } else {
          result.rejections.push_back({std::string("not by ") + id, "", &node});
        }
      }
      result.tags["tag0"] = {std::make_shared<test::NamedBackend>(id), {}};
      return result;
    });
  };
  const std::vector<std::shared_ptr<const Partitioner>> partitioners = {
      delegating("aten.relu.default", "First"), delegating("aten.abs.default", "Second")};
  const std::vector<Rejection> rejections = to_backend(program, partitioners);
  ASSERT_THAT(rejections, SizeIs(2));
  EXPECT_EQ(rejections[0].node, d);
  EXPECT_EQ(rejections[0].rule, "not by First");
  EXPECT_EQ(rejections[1].node, d);
  EXPECT_EQ(rejections[1].rule, "not by Second");
  EXPECT_EQ(module(program, "lowered_module_0").backend_id, "First");
  EXPECT_EQ(module(program, "lowered_module_1").backend_id, "Second");
}

TEST(ToBackend, LowersNestedBranchesAndTreatsOuterWeightsAsInputs) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  Node* x = b.input("x");
  const auto branch = [&](const char* op) {
    auto graph = std::make_unique<Graph>();
    Node* value = graph->placeholder("value");
    Node* weight = graph->placeholder("p");  // has the name of the program's parameter
    value->meta.value = weight->meta.value = ProgramBuilder::spec();
    Node* sum = b.call_in(*graph, op, {value, weight});
    graph->set_output(Argument::tuple({sum}));
    return graph;
  };
  auto outer = branch("aten.add.Tensor");
  outer->subgraphs()["inner"] = branch("aten.mul.Tensor");
  Graph& graph = *b.program.graph;
  graph.subgraphs()["outer"] = std::move(outer);
  Node* attribute = graph.get_attr("outer");
  Node* cond = graph.call(Target::of("cond", Dialect::kHigherOrder),
                          {true, attribute, attribute, Argument::list({x, p})});
  cond->meta.value = Value::Items{Value(ProgramBuilder::spec())};
  Node* item = graph.call(getitem(), {cond, 0});
  item->meta.value = ProgramBuilder::spec();
  ExportedProgram& program = b.finish({item});
  to_backend(program, tagging({{"aten_add_tensor", "tag0"}, {"aten_mul_tensor", "tag0"}}));
  EXPECT_THAT(program.graph->lowered_modules(), IsEmpty());
  EXPECT_THAT(input_names(program), ElementsAre("p", "x"));
  Graph& first = *program.graph->subgraphs().at("outer");
  for (Graph* each : {&first, first.subgraphs().at("inner").get()}) {
    const std::vector<LoweredSubmodule> lowered = get_lowered_submodules(*each);
    ASSERT_THAT(lowered, SizeIs(1));
    EXPECT_EQ(lowered[0].name, "lowered_module_0");
    EXPECT_EQ(lowered[0].call->args().size(), 3U);
    for (const InputSpec& spec : lowered[0].module->original.signature.inputs) {
      EXPECT_EQ(spec.kind, InputSpec::Kind::kUserInput);
    }
    EXPECT_EQ(lowered[0].call->meta.debug_handle, 1U);  // the top graph has no tags
  }
}

TEST(ToBackend, SortsTagsNumerically) {
  ProgramBuilder b;
  Node* x = b.input("x");
  std::map<std::string, std::string> tags;
  Node* value = x;
  for (int i = 0; i < 12; ++i) {
    value = b.call("aten.relu.default", {value});
    tags[value->name()] = "tag" + std::to_string(i);
    value = b.call("aten.erf.default", {value});
  }
  ExportedProgram& program = b.finish({value});
  to_backend(program, tagging(tags));
  // The result of the delegate of tag<n> is getitem_<n>.
  const std::vector<LoweredSubmodule> lowered = get_lowered_submodules(*program.graph);
  ASSERT_THAT(lowered, SizeIs(12));
  EXPECT_EQ(lowered[2].call->users()[0]->name(), "getitem_2");
  EXPECT_EQ(lowered[10].call->users()[0]->name(), "getitem_10");
}

}  // namespace
}  // namespace vitrine::aot
