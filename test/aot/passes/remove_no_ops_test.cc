#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/lint.h"
#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(RemoveNoOps, RemovesNoOpSlicesAndConversionsAndEmptyCatInputs) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* empty = build.input("empty", ScalarType::kFloat, {0, 3});
  Node* full = build.call("aten.slice_copy.Tensor", {x, 0, 0, 2});
  Node* part = build.call("aten.slice_copy.Tensor", {full, 0, 0, 1});
  Node* same = build.call("aten._to_copy.default", {part}, {{"dtype", ScalarType::kFloat}});
  Node* other = build.call("aten._to_copy.default", {same}, {{"dtype", ScalarType::kHalf}});
  Node* joined = build.call("aten.cat.default", {Argument::list({empty, x, empty})});
  ExportedProgram program = build.finish({other, joined});
  remove_no_ops(program);
  lint(program);
  EXPECT_THAT(calls(program), ElementsAre("slice_copy.Tensor", "_to_copy", "cat"));
  EXPECT_EQ(last_call(program).args()[0].list()->size(), 1U);
}

}  // namespace
}  // namespace vitrine::aot
