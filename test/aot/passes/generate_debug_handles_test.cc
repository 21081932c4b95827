#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(GenerateDebugHandles, AssignsOneHandlePerSourceNode) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 4});
  Node* weight = build.parameter("weight", {4, 4});
  Node* product = build.call("aten.linear.default", {x, weight});
  ExportedProgram program = build.finish({build.call("aten.relu.default", {product})});
  to_edge(program);
  std::vector<uint32_t> handles;
  for (const Node& node : program.graph->nodes()) {
    if (node.is_call()) handles.push_back(node.meta.debug_handle);
  }
  EXPECT_THAT(calls(program), ElementsAre("permute_copy", "mm", "relu"));
  EXPECT_THAT(handles, ElementsAre(1, 1, 2));
}

}  // namespace
}  // namespace vitrine::aot
