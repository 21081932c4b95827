// Tests graphs and their text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "aot/graph/aot_error.h"
#include "aot/graph/graph.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Target kRelu = Target::of("aten.relu.default");
const Target kAdd = Target::of("aten.add.Tensor");

struct GraphTest : testing::Test {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* relu = graph.call(kRelu, {x});
  Node* add = graph.call(kAdd, {relu, x}, {{"alpha", 2}});
  Node* output = graph.set_output(Argument::tuple({add}));
};

TEST_F(GraphTest, ListsUsersInOrderOfFirstUse) {
  EXPECT_THAT(x->users(), ElementsAre(relu, add));
  EXPECT_THAT(add->users(), ElementsAre(output));
  EXPECT_THAT(add->inputs(), ElementsAre(relu, x));
}

TEST_F(GraphTest, NodeNamesMatchFx) {
  Node* second = graph.call(kRelu, {add});
  Node* third = graph.call(kRelu, {second}, {}, nullptr, "relu_7");
  Node* fourth = graph.call(kRelu, {third}, {}, nullptr, "relu_7");
  Node* edge = graph.call(Target::of("aten.relu.default", Dialect::kEdge), {fourth});
  EXPECT_EQ(second->name(), "relu_1");
  EXPECT_EQ(third->name(), "relu_7");
  EXPECT_EQ(fourth->name(), "relu_8");
  EXPECT_EQ(edge->name(), "aten_relu_default");
  EXPECT_EQ(graph.find("relu_7"), third);
}

TEST_F(GraphTest, CallsAndRenamedNodesAvoidPythonBuiltinNames) {
  EXPECT_EQ(graph.call(Target::of("aten.max.default"), {x})->name(), "max_1");
  Node* input = graph.placeholder("input", x);
  EXPECT_EQ(input->name(), "input");
  graph.rename_all([](const Node& node) { return node.name(); });
  EXPECT_EQ(input->name(), "input_1");
}

TEST_F(GraphTest, InsertsCallsBeforeOutputByDefault) {
  Node* last = graph.call(kRelu, {add});
  Node* first = graph.call(kRelu, {x}, {}, relu);
  EXPECT_EQ(last->next(), output);
  EXPECT_EQ(first->next(), relu);
  EXPECT_EQ(x->next(), first);
  EXPECT_EQ(x->previous(), nullptr);
  EXPECT_EQ(output->next(), nullptr);
  lint(graph);
}

TEST_F(GraphTest, ReplacesAllUsesExceptInOneUser) {
  Node* other = graph.call(kRelu, {relu}, {}, add);
  relu->replace_all_uses_with(other, other);
  EXPECT_THAT(relu->users(), ElementsAre(other));
  EXPECT_THAT(other->users(), ElementsAre(add));
  EXPECT_EQ(add->args()[0].node(), other);
  lint(graph);
}

TEST_F(GraphTest, UpdatesUsersWhenArgumentsChange) {
  add->set_arg(0, x);
  EXPECT_THAT(relu->users(), IsEmpty());
  EXPECT_THAT(x->users(), ElementsAre(relu, add));
  add->set_kwargs({{"alpha", relu}});
  EXPECT_THAT(relu->users(), ElementsAre(add));
  EXPECT_EQ(add->kwarg("alpha")->node(), relu);
  EXPECT_EQ(add->kwarg("beta"), nullptr);
}

TEST_F(GraphTest, ErasesOnlyNodesWithoutUsers) {
  EXPECT_THROW(graph.erase(relu), AotError);
  Node* unused = graph.call(kRelu, {add});
  graph.erase(unused);
  EXPECT_THAT(add->users(), ElementsAre(output));
  EXPECT_EQ(graph.find("relu_1"), nullptr);
}

TEST_F(GraphTest, RejectsNodesOfOtherGraphs) {
  Graph other;
  EXPECT_THROW(other.call(kRelu, {x}), AotError);
}

TEST_F(GraphTest, RemovesUnusedCallsWithoutSideEffects) {
  Node* dead = graph.call(kRelu, {add});
  graph.call(kRelu, {dead});
  Node* effect = graph.call(Target::of("aten.add_.Tensor"), {add, add});
  EXPECT_EQ(graph.remove_dead_code(), 2U);
  EXPECT_EQ(effect->next(), output);
  lint(graph);
}

TEST_F(GraphTest, CopyIncludesSubgraphsAndMetadata) {
  auto inner = std::make_unique<Graph>();
  inner->set_output(inner->call(kRelu, {inner->placeholder("y")}));
  graph.subgraphs()["body"] = std::move(inner);
  Node* body = graph.get_attr("body", add);
  add->set_kwargs({{"f", body}});
  relu->meta.debug_handle = 5;
  const std::unique_ptr<Graph> copy = graph.copy();
  lint(*copy);
  EXPECT_EQ(format_graph(*copy), format_graph(graph));
  EXPECT_EQ(copy->find("relu")->meta.debug_handle, 5U);
  EXPECT_NE(copy->find("relu"), relu);
  EXPECT_EQ(format_graph(*copy->subgraphs().at("body")),
            format_graph(*graph.subgraphs().at("body")));
}

TEST_F(GraphTest, MovesAndRenamesNodes) {
  Node* other = graph.call(kRelu, {x});
  graph.move_before(other, relu);
  graph.rename(other, "first");
  EXPECT_EQ(x->next(), other);
  EXPECT_EQ(graph.find("first"), other);
  EXPECT_EQ(graph.find("relu_1"), nullptr);
  lint(graph);
}

TEST(Target, ParsesDialectNamespaceOpAndOverload) {
  const Target target = Target::parse("torch.ops.aten.conv2d.default");
  EXPECT_EQ(target, Target::of("aten.conv2d.default"));
  EXPECT_EQ(target.name_space(), "aten");
  EXPECT_EQ(target.op(), "conv2d");
  EXPECT_EQ(target.overload(), "default");
  EXPECT_EQ(Target::parse("torch.ops.higher_order.cond").name(), "cond");
  EXPECT_EQ(Target::parse("torch.ops.higher_order.cond").dialect(), Dialect::kHigherOrder);
  EXPECT_EQ(Target::parse("_operator.ge").text(), "operator.ge");
  EXPECT_EQ(Target::parse("executorch.exir.dialects.edge._ops.aten.add.Tensor"),
            Target::of("aten.add.Tensor", Dialect::kEdge));
  EXPECT_FALSE(Target());
}

TEST(Argument, DistinguishesNegativeZero) {
  EXPECT_EQ(Argument(0.0), Argument(0.0));
  EXPECT_EQ(Argument(-0.0), Argument(-0.0));
  EXPECT_FALSE(Argument(0.0) == Argument(-0.0));
  EXPECT_FALSE(Argument::list({1, 0.0}) == Argument::list({1, -0.0}));
}

TEST(Print, PrintsGraphsLikeFx) {
  Graph graph;
  Node* x = graph.placeholder("x");
  Node* weight = graph.placeholder("p_w");
  Node* conv = graph.call(Target::of("aten.conv2d.default"),
                          {x, weight, Argument(), std::vector<int64_t>{2, 2}});
  Node* relu = graph.call(Target::of("aten.relu.default"), {conv});
  graph.set_output(Argument::tuple({relu}));
  EXPECT_EQ(
      format_graph(graph),
      "graph():\n"
      "    %x : [num_users=1] = placeholder[target=x]\n"
      "    %p_w : [num_users=1] = placeholder[target=p_w]\n"
      "    %conv2d : [num_users=1] = call_function[target=torch.ops.aten.conv2d.default](args = "
      "(%x, %p_w, None, [2, 2]), kwargs = {})\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = "
      "(%conv2d,), kwargs = {})\n"
      "    return (relu,)");
}

TEST(Print, PrintsKeywordsAndSubgraphs) {
  Graph graph;
  Node* x = graph.placeholder("x");
  graph.subgraphs()["true_graph_0"] = std::make_unique<Graph>();
  Node* branch = graph.get_attr("true_graph_0");
  Node* sum = graph.call(Target::of("aten.sum.dim_IntList", Dialect::kEdge),
                         {x, std::vector<int64_t>{1}, true}, {{"dtype", ScalarType::kDouble}});
  Node* call = graph.call(Target::of("cond", Dialect::kHigherOrder), {sum, branch});
  Node* item = graph.call(getitem(), {call, 0});
  graph.set_output(item);
  EXPECT_EQ(format_node(*branch), "%true_graph_0 : [num_users=1] = get_attr[target=true_graph_0]");
  EXPECT_EQ(format_node(*sum),
            "%aten_sum_dim_int_list : [num_users=1] = "
            "call_function[target=executorch.exir.dialects.edge._ops.aten.sum.dim_IntList](args = "
            "(%x, [1], True), kwargs = {dtype: torch.float64})");
  EXPECT_EQ(format_node(*item),
            "%getitem : [num_users=1] = call_function[target=operator.getitem](args = (%cond, 0), "
            "kwargs = {})");
  EXPECT_EQ(format_node(*graph.output()), "return getitem");
}

TEST(Print, PrintsLiteralsLikePython) {
  EXPECT_EQ(format_argument(1e-5), "1e-05");
  EXPECT_EQ(format_argument(0.1), "0.1");
  EXPECT_EQ(format_argument(6.0), "6.0");
  EXPECT_EQ(format_argument(1e16), "1e+16");
  EXPECT_EQ(format_argument(123456.0), "123456.0");
  EXPECT_EQ(format_argument(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(format_argument(true), "True");
  EXPECT_EQ(format_argument(Argument()), "None");
  EXPECT_EQ(format_argument("none"), "none");
  EXPECT_EQ(format_argument(MemoryFormat::kChannelsLast), "torch.channels_last");
  EXPECT_EQ(format_argument(Layout::kStrided), "torch.strided");
  EXPECT_EQ(format_argument(Device{"cpu", -1}), "cpu");
  EXPECT_EQ(format_argument(Device{"cuda", 1}), "cuda:1");
  EXPECT_EQ(format_argument(Argument::tuple({1, 2})), "(1, 2)");
}

}  // namespace
}  // namespace vitrine::aot
