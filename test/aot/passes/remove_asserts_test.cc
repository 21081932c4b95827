#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(RemoveAsserts, RemovesChecksAndTheirInputs) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  Node* positive = build.call("aten.gt.Scalar", {x, 0});
  Node* all = build.call("aten.all.default", {positive});
  build.call_as("aten._assert_async.msg", {all, "negative"}, {}, {});
  ExportedProgram program = build.finish({build.call("aten.sqrt.default", {x})});
  remove_asserts(program);
  EXPECT_THAT(calls(program), ElementsAre("sqrt"));
}

}  // namespace
}  // namespace vitrine::aot
