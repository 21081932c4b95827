#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/builder/model_builder.h"
#include "aot/graph/lint.h"
#include "aot/passes/passes.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(RemoveNoOps, RemovesWhatChangesNothing) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* none = build.input("none", ScalarType::kFloat, {0, 3});
  Node* whole = build.call("aten.slice_copy.Tensor", {x, 0, 0, 2});
  Node* part = build.call("aten.slice_copy.Tensor", {whole, 0, 0, 1});
  Node* same = build.call("aten._to_copy.default", {part}, {{"dtype", ScalarType::kFloat}});
  Node* other = build.call("aten._to_copy.default", {same}, {{"dtype", ScalarType::kHalf}});
  Node* joined = build.call("aten.cat.default", {Argument::list({none, x, none})});
  ExportedProgram program = build.finish({other, joined});
  remove_no_ops(program);
  lint(program);
  EXPECT_THAT(calls(program), ElementsAre("slice_copy.Tensor", "_to_copy", "cat"));
  EXPECT_EQ(last_call(program).args()[0].list()->size(), 1U);
}

}  // namespace
}  // namespace vitrine::aot
