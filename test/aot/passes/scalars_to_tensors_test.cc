#include <gtest/gtest.h>

#include "aot/builder/model_builder.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/passes/passes.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

TEST(ScalarsToTensors, LiftsNumbersOfTensorOperandsAlone) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  build.buffer("state", zeros({2}));
  Node* sum = build.call("aten.add.Tensor", {x, 2.5});
  ExportedProgram program = build.finish({build.call("aten.gt.Scalar", {sum, 1})});
  scalars_to_tensors(program);
  lint(program);
  // The number continues that of the buffers.
  const Node* constant = program.graph->find("c__lifted_tensor_constant1");
  if (constant == nullptr) constant = program.graph->find("_lifted_tensor_constant1");
  ASSERT_NE(constant, nullptr) << format_graph(*program.graph);
  EXPECT_EQ(to_text(*constant->tensor()), "f32[]");
  EXPECT_EQ(*last_call(program).args()[1].get<int64_t>(), 1);
}

}  // namespace
}  // namespace vitrine::aot
