#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/lint.h"
#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

TEST(RemoveDeadCode, KeepsCallsWithUsersOrSideEffects) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  Node* state = build.buffer("state", zeros({2}));
  build.call("aten.exp.default", {build.call("aten.neg.default", {x})});
  build.call("aten.add_.Tensor", {state, x});
  ExportedProgram program = build.finish({build.call("aten.relu.default", {x})});
  remove_dead_code(program);
  EXPECT_THAT(calls(program), testing::ElementsAre("add_.Tensor", "relu"));
}

TEST(RemoveUnusedParameters, KeepsBuffers) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  build.parameter("unused", zeros({2}));
  build.buffer("state", zeros({2}));
  ExportedProgram program = build.finish({build.call("aten.relu.default", {x})});
  remove_unused_parameters(program);
  lint(program);
  EXPECT_FALSE(program.state_dict.contains("unused"));
  EXPECT_TRUE(program.state_dict.contains("state"));
}

}  // namespace
}  // namespace vitrine::aot
