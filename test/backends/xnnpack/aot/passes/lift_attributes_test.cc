#include <gtest/gtest.h>

#include <cstring>

#include "backends/xnnpack/aot/preprocessing.h"
#include "test/backends/xnnpack/aot/delegate_runner.h"

namespace vitrine::aot::test {
namespace {

// x + 0.25, where 0.25 is an attribute of the graph
TEST(LiftAttributes, TurnsAttributesIntoConstants) {
  TestProgram t;
  Graph& graph = *t.program.graph;
  const float number = 0.25f;
  std::vector<std::byte> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  graph.tensors()["_tensor_constant0"] = make_tensor_data(ScalarType::kFloat, {}, bytes);
  Node* x = t.input("x", {2});
  Node* attribute = graph.get_attr("_tensor_constant0");
  attribute->meta.value = contiguous_spec(ScalarType::kFloat, {});
  Node* sum = t.call("aten.add.Tensor", {x, attribute}, {2});
  t.output({sum});
  xnnpack::Preprocessing p(t.program);
  xnnpack::lift_attributes(p);
  for (const Node& node : graph.nodes()) EXPECT_NE(node.kind(), Node::Kind::kGetAttr);
  const Node* constant = sum->args()[1].node();
  ASSERT_EQ(constant->kind(), Node::Kind::kPlaceholder);
  EXPECT_EQ(p.floats(*constant), std::vector<float>{number});
  EXPECT_EQ(run(*lowered(t), {{1, 2}})[0], (std::vector<float>{1.25f, 2.25f}));
}

}  // namespace
}  // namespace vitrine::aot::test
