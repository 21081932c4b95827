#include <gtest/gtest.h>

#include "aot/builder/model_builder.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/passes/passes.h"
#include "test/aot/evaluation/lowered_call.h"
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

TEST(ScalarsToTensors, NumbersOfDoublesAreDoubles) {
  const TensorData x = floats({2}, {1, 3});
  const TensorData found = run({x}, [](ModelBuilder& build, const Nodes& in) {
    Node* wide = build.call("aten.to.dtype", {in[0], ScalarType::kDouble});
    return build.call("aten.mul.Tensor", {wide, 0.1});
  })[0];
  EXPECT_EQ(found.dtype, ScalarType::kDouble);
  EXPECT_EQ(values_of(found), (Values{0.1, 3 * 0.1}));
}

}  // namespace
}  // namespace vitrine::aot
