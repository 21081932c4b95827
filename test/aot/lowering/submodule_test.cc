#include "aot/lowering/submodule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "test/aot/lowering/program_builder.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

struct SubmoduleTest : testing::Test {
  test::ProgramBuilder b;
  Node* x = b.input("x");
  Node* y = b.input("y");

  Submodule extract(const std::vector<Node*>& nodes) {
    return create_submodule_from_nodes(*b.program.graph, nodes, "t", &b.program.signature);
  }
};

TEST_F(SubmoduleTest, GetitemSelectsASingleResult) {
  Node* add = b.call("aten.add.Tensor", {y, x});
  Node* relu = b.call("aten.relu.default", {add});
  b.finish({relu});
  const Submodule made = extract({add});
  EXPECT_EQ(format_graph(*made.graph),
            "graph():\n"
            "    %y : [num_users=1] = placeholder[target=y]\n"
            "    %x : [num_users=1] = placeholder[target=x]\n"
            "    %aten_add_tensor : [num_users=1] = "
            "call_function[target=executorch.exir.dialects.edge._ops.aten.add.Tensor](args = (%y, "
            "%x), kwargs = {})\n"
            "    return [aten_add_tensor]");
  EXPECT_EQ(made.call->name(), "fused_t");
  EXPECT_THAT(made.call->inputs(), ElementsAre(y, x));
  ASSERT_EQ(made.call->users().size(), 1U);
  const Node* item = made.call->users()[0];
  EXPECT_TRUE(item->calls(getitem()));
  EXPECT_EQ(item->meta.debug_handle, 0U);
  EXPECT_EQ(relu->args()[0].node(), item);
  lint(b.program);
  lint(*made.graph);
}

TEST_F(SubmoduleTest, SortsResultsByCallAndRenamesOutputs) {
  Node* add = b.call("aten.add.Tensor", {x, y});
  Node* relu = b.call("aten.relu.default", {add});
  Node* abs = b.call("aten.abs.default", {add});
  b.finish({abs, add});
  const Submodule made = extract({abs, add});
  EXPECT_EQ(format_node(*made.graph->output()), "return [aten_add_tensor, aten_abs_default]");
  EXPECT_EQ(format_node(*b.program.graph->output()), "return (getitem_1, getitem)");
  EXPECT_EQ(b.program.signature.outputs[0].name, "getitem_1");
  EXPECT_EQ(b.program.signature.outputs[1].name, "getitem");
  // Each result keeps the debug handle of its call.
  EXPECT_EQ(made.call->users()[0]->meta.debug_handle, 1U);
  EXPECT_EQ(made.call->users()[1]->meta.debug_handle, 3U);
  EXPECT_EQ(relu->args()[0].node()->name(), "getitem");
  lint(b.program);
}

TEST_F(SubmoduleTest, UnpacksTupleIfItIsTheOnlyResult) {
  const std::vector<Node*> nodes = b.split(x, 2);
  Node* sum = b.call("aten.add.Tensor", {nodes[1], nodes[2]});
  b.finish({sum});
  const Submodule made = extract({nodes[0]});
  EXPECT_EQ(format_node(*made.graph->output()), "return [getitem, getitem_1]");
  EXPECT_THAT(made.call->users(), ElementsAre(nodes[1], nodes[2]));
  EXPECT_EQ(made.call->meta.value.items()->size(), 2U);
  lint(b.program);
}

TEST_F(SubmoduleTest, RejectsTupleAmongSeveralResults) {
  const std::vector<Node*> nodes = b.split(x, 2);
  Node* relu = b.call("aten.relu.default", {x});
  Node* sum = b.call("aten.add.Tensor", {nodes[1], relu});
  b.finish({sum});
  EXPECT_ERROR(AotError, extract({nodes[0], relu}), "add its getitems to the partition");
}

TEST_F(SubmoduleTest, RejectsNodesConnectedThroughAnOutsideNode) {
  Node* first = b.call("aten.relu.default", {x});
  Node* between = b.call("aten.erf.default", {first});
  Node* last = b.call("aten.add.Tensor", {first, between});
  b.finish({last});
  const std::string before = format_graph(*b.program.graph);
  EXPECT_ERROR(AotError, extract({first, last}),
               "cannot be one call, because node aten_erf_default");
  EXPECT_EQ(format_graph(*b.program.graph), before);
}

TEST_F(SubmoduleTest, RejectsPlaceholdersAndNodesOfOtherGraphs) {
  Node* relu = b.call("aten.relu.default", {x});
  b.finish({relu});
  Graph other;
  Node* foreign = other.call(Target::of("aten.relu.default"), {other.placeholder("z")});
  EXPECT_ERROR(AotError, extract({x}), "node x is not a call");
  EXPECT_ERROR(AotError, extract({foreign}), "another graph");
  EXPECT_ERROR(AotError, extract({}), "has no nodes");
}

TEST_F(SubmoduleTest, AcceptsUnconnectedNodes) {
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.abs.default", {y});
  b.finish({c, a});
  const Submodule made = extract({a, c});
  EXPECT_EQ(format_node(*made.graph->output()), "return [aten_relu_default, aten_abs_default]");
  lint(b.program);
}

TEST_F(SubmoduleTest, SortsPlaceholdersByKind) {
  test::ProgramBuilder p;
  Node* buffer = p.buffer("b_b");
  Node* parameter = p.parameter("p_p");
  Node* untagged = p.parameter("p_q");
  Node* constant = p.constant("c_c");
  Node* input = p.input("x");
  for (Node* node : {buffer, parameter, constant}) node->meta.delegation_tag = "t";
  Node* call = p.call("aten.cat.default",
                      {Argument::list({input, constant, untagged, buffer, parameter})}, "t");
  p.finish({call});
  const std::vector<Node*> nodes = {call};
  const Submodule made = create_submodule_from_nodes(*p.program.graph, nodes, "t");
  arrange_graph_placeholders(*made.graph, p.program, "t");
  std::vector<std::string> names;
  for (const Node* node : made.graph->placeholders()) names.push_back(node->name());
  EXPECT_THAT(names, ElementsAre("p_p", "b_b", "p_q", "c_c", "x"));
  lint(*made.graph);
}

TEST_F(SubmoduleTest, ReorderingResultsUpdatesGetitems) {
  Node* a = b.call("aten.relu.default", {x});
  Node* c = b.call("aten.abs.default", {y});
  b.finish({a, c});
  Submodule made = extract({a, c});
  const std::vector<size_t> order = {1, 0};
  arrange_graph_outputs(made, order);
  EXPECT_EQ(format_node(*made.graph->output()), "return [aten_abs_default, aten_relu_default]");
  EXPECT_EQ(made.call->users()[0]->args()[1], Argument(1));
  EXPECT_EQ(made.call->users()[1]->args()[1], Argument(0));
}

TEST_F(SubmoduleTest, OutputComesAfterUnusedCalls) {
  Node* add = b.call("aten.add.Tensor", {x, y});
  Node* relu = b.call("aten.relu.default", {add});
  b.call("aten.abs.default", {relu});  // ready at the same time as the output
  b.finish({relu});
  extract({add});
  lint(b.program);
}

}  // namespace
}  // namespace vitrine::aot
