#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"
#include "vitrine/half.h"

namespace vitrine::aot {
namespace {

TEST(ScalarsToTensors, LiftsOnlyNumbersPassedInPlaceOfTensors) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  build.buffer("state", zeros({2}));
  Node* sum = build.call("aten.add.Tensor", {x, 2.5});
  ExportedProgram program = build.finish({build.call("aten.gt.Scalar", {sum, 1})});
  scalars_to_tensors(program);
  lint(program);
  // The number in the constant's name continues the numbers in the names of buffers.
  const Node* constant = program.graph->find("c__lifted_tensor_constant1");
  if (constant == nullptr) constant = program.graph->find("_lifted_tensor_constant1");
  ASSERT_NE(constant, nullptr) << format_graph(*program.graph);
  EXPECT_EQ(to_text(*constant->tensor()), "f32[]");
  EXPECT_EQ(*last_call(program).args()[1].get<int64_t>(), 1);
}

TEST(ScalarsToTensors, LiteralsInF64CallsAreF64) {
  const TensorData x = floats({2}, {1, 3});
  const TensorData found = run({x}, [](ModelBuilder& build, const Nodes& in) {
    Node* wide = build.call("aten.to.dtype", {in[0], ScalarType::kDouble});
    return build.call("aten.mul.Tensor", {wide, 0.1});
  })[0];
  EXPECT_EQ(found.dtype, ScalarType::kDouble);
  EXPECT_EQ(values_of(found), (Values{0.1, 3 * 0.1}));
}

TEST(ScalarsToTensors, KeepsNumbersThatF16CannotRepresentExactly) {
  const std::array<Half, 2> values = {Half(0.09375F), Half(-60000.0F)};
  std::vector<std::byte> bytes(sizeof values);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const TensorData x = make_tensor_data(ScalarType::kHalf, {2}, std::move(bytes));
  EXPECT_EQ(values_of(run({x}, one("aten.mul.Tensor", {1e5}))[0]), (Values{9376, -kInfinity}));
  EXPECT_EQ(values_of(run({x}, one("aten.add.Tensor", {70000}))[0]), (Values{kInfinity, 10000}));
  std::string operators;
  EXPECT_EQ(values_of(run({x}, one("aten.mul.Tensor", {0.5}), &operators)[0]),
            (Values{0.046875, -30000}));
  EXPECT_EQ(operators, "dim_order_ops._to_dim_order_copy.default aten.mul.Tensor ");
}

}  // namespace
}  // namespace vitrine::aot
