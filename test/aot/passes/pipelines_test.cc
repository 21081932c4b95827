#include <gtest/gtest.h>

#include "aot/builder/model_builder.h"
#include "aot/graph/lint.h"
#include "aot/passes/passes.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

TEST(Pipelines, LeavesBuffers) {
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
