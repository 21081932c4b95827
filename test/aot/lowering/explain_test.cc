#include "aot/lowering/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/lowering/delegated_graph.h"
#include "aot/lowering/node_cost.h"
#include "aot/lowering/to_backend.h"
#include "test/aot/lowering/program_builder.h"

namespace vitrine::delegation {
namespace {

using aot::Dialect;
using aot::Graph;
using aot::Node;
using aot::SymInt;
using aot::Target;
using testing::HasSubstr;
using testing::Not;

struct CostTest : testing::Test {
  Graph graph;
  aot::RangeConstraints symbols = {{"s0", {1, 10}}, {"u0", {0, std::nullopt}}};

  Node* tensor(std::vector<SymInt> sizes, ScalarType dtype = ScalarType::kFloat) {
    Node* node = graph.placeholder("x", graph.nodes().empty() ? nullptr : &graph.nodes().front());
    node->meta.value = aot::contiguous_spec(dtype, std::move(sizes));
    return node;
  }
  NodeCost cost(const char* op, aot::ArgumentList args, std::vector<SymInt> result) {
    Node* node = graph.call(Target::of(op, Dialect::kEdge), std::move(args));
    node->meta.value = aot::contiguous_spec(ScalarType::kFloat, std::move(result));
    return cost_of(*node, symbols);
  }
};

TEST_F(CostTest, CountsFlopsOfProductsAndConvolutions) {
  NodeCost found = cost("aten.mm.default", {tensor({3, 5}), tensor({5, 7})}, {3, 7});
  EXPECT_EQ(found.flops, 2U * 3 * 5 * 7);
  EXPECT_EQ(found.bytes, 4U * (15 + 35 + 21));
  found = cost("aten.addmm.default", {tensor({7}), tensor({3, 5}), tensor({5, 7})}, {3, 7});
  EXPECT_EQ(found.flops, 2U * 3 * 5 * 7);
  const std::vector<int64_t> two = {1, 1};
  const auto conv = [&](bool transposed) {
    return cost("aten.convolution.default",
                {tensor({1, 4, 6, 6}), tensor({8, 2, 3, 3}), aot::Argument(), two, two, two,
                 transposed, two, 2},
                {1, 8, 5, 5});
  };
  EXPECT_EQ(conv(false).flops, 2U * 8 * 5 * 5 * 2 * 9);
  EXPECT_EQ(conv(true).flops, 2U * 4 * 6 * 6 * 2 * 9);
}

TEST_F(CostTest, CountsFlopsOfOperatorsWithoutWeights) {
  EXPECT_EQ(cost("aten.view_copy.default", {tensor({4, 4})}, {16}).flops, 0U);
  EXPECT_EQ(cost("aten.view_copy.default", {tensor({4, 4})}, {16}).bytes, 128U);
  EXPECT_EQ(cost("aten.mean.dim", {tensor({4, 4})}, {4}).flops, 16U);
  EXPECT_EQ(cost("aten.erf.default", {tensor({4, 4})}, {4, 4}).flops, 16U);
  EXPECT_EQ(cost("aten._softmax.default", {tensor({4, 4}), 1, false}, {4, 4}).flops, 5U * 16)
      << "must equal the count in profiles";
  EXPECT_EQ(cost("aten.topk.default", {tensor({4, 4}), 2}, {4, 2}).flops, std::nullopt);
  EXPECT_EQ(cost("aten.avg_pool2d.default", {tensor({1, 1, 4, 4}), std::vector<int64_t>{2, 2}},
                 {1, 1, 2, 2})
                .flops,
            16U);
}

TEST_F(CostTest, UsesUpperBoundsOfDynamicSizes) {
  const SymInt s0(aot::Expression::symbol("s0"));
  const SymInt u0(aot::Expression::symbol("u0"));
  EXPECT_EQ(cost("aten.erf.default", {tensor({s0, 2})}, {s0, 2}).flops, 20U);
  EXPECT_EQ(cost("aten.erf.default", {tensor({u0, 2})}, {u0, 2}).flops, 2U);
  const SymInt huge(INT64_MAX);
  EXPECT_EQ(cost("aten.erf.default", {tensor({huge, huge})}, {huge, huge}).flops, UINT64_MAX);
}

struct ExplainTest : testing::Test {
  aot::test::ProgramBuilder b;
  Node* x = b.input("x");
};

TEST_F(ExplainTest, PrintsOneLinePerReasonSortedByCost) {
  Node* view = b.call("aten.view_copy.default", {x});
  Node* erf = b.call("aten.erf.default", {view});
  Node* product = b.call("aten.mm.default", {erf, view});
  auto origin = std::make_shared<aot::Origin>();
  origin->stack_trace =
      "  File \"/home/me/model.py\", line 12, in forward\n    return torch.erf(x)\n"
      "  File \"/usr/lib/python3/dist-packages/torch/nn/modules/linear.py\", line 7, in forward\n";
  erf->meta.origin = origin;
  aot::ExportedProgram& program = b.finish({product});
  const std::vector<aot::Rejection> rejections = {
      {"XNNPACK has no erf", "use gelu", erf},
      {"XNNPACK has no erf", "use gelu", erf},
      {"the demo has no erf", "", erf},
      {"the partition would have only a view", "", view}};
  EXPECT_EQ(explain(program, rejections),
            "aten.mm.default [16 FLOP, 48 B]: no partitioner chose it\n"
            "aten.erf.default [4 FLOP, 32 B]: XNNPACK has no erf; remedy: use gelu. the demo "
            "has no erf\n"
            "aten.view_copy.default [0 FLOP, 32 B]: the partition would have only a view\n");
  EXPECT_THAT(explain(program, rejections, true),
              HasSubstr("the demo has no erf\n"
                        "    aten_erf_default (model.py:12) [4 FLOP, 32 B]\n"));
}

// Tensors are f32 [2, 2]. The product has 2 * 2 * 2 multiply-adds, and an erf has one FLOP per
// element. Both operands of the product are the same tensor, whose bytes are counted only once.
TEST_F(ExplainTest, SumsCostsOfCallsWithTheSameReason) {
  Node* first = b.call("aten.erf.default", {x});
  Node* product = b.call("aten.mm.default", {first, first});
  Node* second = b.call("aten.erf.default", {product});
  Node* relu = b.call("aten.relu.default", {second});
  const std::vector<aot::Rejection> rejections = {{"the partition is too small", "", relu},
                                                  {"too small", "", first},
                                                  {"too small", "", product},
                                                  {"too small", "", second}};
  EXPECT_EQ(explain(b.finish({relu}), rejections, true),
            "aten.mm.default, 2 x aten.erf.default [24 FLOP, 96 B]: too small\n"
            "    aten_mm_default [16 FLOP, 32 B]\n"
            "    aten_erf_default [4 FLOP, 32 B]\n"
            "    aten_erf_default_1 [4 FLOP, 32 B]\n"
            "aten.relu.default [4 FLOP, 32 B]: the partition is too small\n"
            "    aten_relu_default [4 FLOP, 32 B]\n");
}

// Sort operators have no FLOPs rule. All tensors are f32 [2, 2].
TEST_F(ExplainTest, PrintsUnknownCosts) {
  Node* erf = b.call("aten.erf.default", {x});
  Node* sorted = b.call("aten.sort.default", {erf});
  Node* again = b.call("aten.sort.default", {sorted});
  const std::vector<aot::Rejection> rejections = {
      {"too small", "", erf}, {"too small", "", sorted}, {"no sorts", "", again}};
  EXPECT_EQ(explain(b.finish({again}), rejections, true),
            "aten.erf.default, aten.sort.default [at least 4 FLOP, 64 B]: too small\n"
            "    aten_erf_default [4 FLOP, 32 B]\n"
            "    aten_sort_default [unknown FLOP, 32 B]\n"
            "aten.sort.default [unknown FLOP, 32 B]: no sorts\n"
            "    aten_sort_default_1 [unknown FLOP, 32 B]\n");
}

TEST_F(ExplainTest, OmitsDelegatedCallsAndGetitems) {
  Node* relu = b.call("aten.relu.default", {x});
  aot::ExportedProgram& program = b.finish({relu});
  aot::to_backend(program, aot::test::tagging({{"aten_relu_default", "t"}}));
  EXPECT_EQ(explain(program, {}), "");
}

TEST_F(ExplainTest, ExplainsCallsInBranches) {
  auto branch = std::make_unique<Graph>();
  Node* value = branch->placeholder("value");
  branch->set_output(aot::Argument::tuple({b.call_in(*branch, "aten.erf.default", {value})}));
  b.program.graph->subgraphs()["submodule_0"] = std::move(branch);
  EXPECT_THAT(explain(b.finish({b.call("aten.relu.default", {x})}), {}, true),
              HasSubstr("    submodule_0.aten_erf_default ["));
}

TEST_F(ExplainTest, GraphvizDrawsDelegatesAsClusters) {
  Node* p = b.parameter("p_w");
  Node* sum = b.call("aten.add.Tensor", {x, p});
  Node* erf = b.call("aten.erf.default", {sum});
  Node* shown = b.call("aten.mul.Tensor", {erf, p});  // uses a copy of p_w, which is not drawn
  Node* relu = b.call("aten.relu.default", {shown});
  aot::ExportedProgram& program = b.finish({relu});
  aot::to_backend(
      program,
      aot::test::tagging({{"aten_add_tensor", "t0"}, {"p_w", "t0"}, {"aten_relu_default", "t1"}}));
  const std::string dot = format_graphviz(program);
  EXPECT_THAT(dot, HasSubstr("subgraph \"cluster_executorch_call_delegate/\" {\n"
                             "    label=\"lowered_module_0 (Named)\";"));
  EXPECT_THAT(dot, HasSubstr("\"x\" -> \"executorch_call_delegate/x\";"));
  EXPECT_THAT(dot, HasSubstr("\"executorch_call_delegate/output\" -> \"getitem"));
  EXPECT_THAT(dot, HasSubstr("\"aten_erf_default\" [label=\"aten.erf.default\\nf32[2, 2]\"];"));
  EXPECT_THAT(dot, HasSubstr("\"aten_mul_tensor\" -> \"executorch_call_delegate_1/"));
  EXPECT_THAT(dot, Not(HasSubstr("p_w")));
  EXPECT_TRUE(dot.starts_with("digraph delegation {\n"));
  EXPECT_TRUE(dot.ends_with("}\n"));
}

}  // namespace
}  // namespace vitrine::delegation
