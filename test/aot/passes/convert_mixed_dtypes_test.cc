#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/lint.h"
#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(ConvertMixedDtypes, ConvertsOperandsToCommonDtype) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kInt, {2});
  Node* y = build.input("y", ScalarType::kFloat, {2});
  Node* one = build.input("one", ScalarType::kLong, {});
  Node* sum = build.call("aten.add.Tensor", {x, y});
  Node* more = build.call("aten.add.Tensor", {x, one});
  ExportedProgram program = build.finish({sum, more});
  convert_mixed_dtypes(program);
  lint(program);
  // The first sum converts x to f32. The second sum converts `one` to i32, because `one` is a
  // tensor of rank 0, so the dtype of x determines the common dtype.
  EXPECT_THAT(calls(program), ElementsAre("_to_copy", "add.Tensor", "_to_copy", "add.Tensor"));
  EXPECT_EQ(last_call(program).previous()->args()[0].node()->name(), "one");
  EXPECT_EQ(last_call(program).previous()->tensor()->dtype, ScalarType::kInt);
}

}  // namespace
}  // namespace vitrine::aot
