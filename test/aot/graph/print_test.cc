#include "aot/graph/print.h"

#include <gtest/gtest.h>

#include <limits>

namespace vitrine::aot {
namespace {

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
