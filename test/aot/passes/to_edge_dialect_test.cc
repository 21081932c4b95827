#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"

namespace vitrine::aot {
namespace {

TEST(ToEdgeDialect, CallsAreNamedLikeInFx) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  Node* one = build.call("aten.scalar_tensor.default", {1.0});
  Node* sum = build.call("aten.add.Tensor", {x, one});
  ExportedProgram program = build.finish({sum});
  to_edge_dialect(program);
  EXPECT_EQ(sum->target().dialect(), Dialect::kEdge);
  EXPECT_EQ(sum->name(), "aten_add_tensor");
  EXPECT_EQ(program.signature.outputs[0].name, sum->name());
  EXPECT_EQ(one->target().dialect(), Dialect::kAten)
      << "operators on numbers keep their ATen targets";
}

TEST(ToEdgeDialect, SubgraphsAreNumberedInOrderOfUse) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  ExportedProgram program = build.finish({build.call("aten.relu.default", {x})});
  Graph& graph = *program.graph;
  for (const char* name : {"z_graph", "a_graph"}) {
    auto inner = std::make_unique<Graph>();
    Node* input = inner->placeholder("input");
    input->meta.value = *x->tensor();
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

}  // namespace
}  // namespace vitrine::aot
