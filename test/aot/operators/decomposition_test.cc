#include "aot/operators/decomposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(Decomposition, ReadsSymbolicSizesWithSymSizeCall) {
  ModelBuilder build("Net");
  const SymInt batch = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {batch, 3, 4});
  Node* weight = build.parameter("weight", {5, 4});
  Node* bias = build.parameter("bias", {5});
  ExportedProgram program =
      edge_program(build, {build.call("aten.linear.default", {x, weight, bias})});
  EXPECT_THAT(calls(program), ElementsAre("sym_size.int", "mul", "view_copy", "permute_copy",
                                          "addmm", "view_copy"));
  EXPECT_EQ(to_text(*last_call(program).tensor()), "f32[s0, 3, 5]");
}

TEST(Decomposition, NewCallsPrecedeTheOldCallAndKeepItsOrigin) {
  Net build({2, 3});
  Node* old = build.call("aten.relu.default", {build.x});
  ExportedProgram program = build.finish({old});
  Decomposition to(program, *old);
  Node* first = to.mul(build.x, 2);
  Node* second = to("exp", first);
  EXPECT_EQ(old->previous(), second);
  EXPECT_EQ(second->previous(), first);
  EXPECT_EQ(first->meta.origin, old->meta.origin);
  to.replace(second);
  EXPECT_THAT(calls(program), ElementsAre("mul.Tensor", "exp"));
  EXPECT_EQ(program.signature.outputs[0].name, second->name());
}

TEST(Decomposition, ReshapeCopiesNonContiguousTensors) {
  Net build({2, 3});
  Node* transposed = build.call("aten.permute.default", {build.x, Dims{1, 0}});
  Node* old = build.call("aten.relu.default", {transposed});
  ExportedProgram program = build.finish({old});
  Decomposition to(program, *old);
  EXPECT_EQ(to.reshape(build.x, {6})->args()[0].node(), build.x);
  const Node* copy = to.reshape(transposed, {6})->args()[0].node();
  EXPECT_TRUE(copy->target().is("aten.clone.default"));
  EXPECT_EQ(copy->args()[0].node(), transposed);
}

TEST(Decomposition, ReadsEachSymbolicSizeOnce) {
  ModelBuilder build("Net");
  const SymInt rows = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {rows, 4});
  Node* old = build.call("aten.relu.default", {x});
  ExportedProgram program = build.finish({old});
  Decomposition to(program, *old);
  EXPECT_EQ(to.size(SymInt(4)), Argument(4));
  const Argument size = to.size(rows);
  ASSERT_NE(size.node(), nullptr);
  EXPECT_TRUE(size.node()->target().is("aten.sym_size.int"));
  EXPECT_EQ(to.size(rows).node(), size.node());
  EXPECT_TRUE(to.size(rows * SymInt(4)).node()->target().is("_operator.mul"));
}

TEST(Decomposition, ErrorsNameTheNode) {
  Net build({2, 3});
  Node* y = build.input("y", ScalarType::kFloat, {4});
  Node* old = build.call("aten.relu.default", {build.x});
  ExportedProgram program = build.finish({old});
  Decomposition to(program, *old);
  EXPECT_ERROR(AotError, to.refuse("its input is wrong"), "node relu");
  EXPECT_ERROR(AotError, to.refuse("its input is wrong"), "its input is wrong");
  EXPECT_ERROR(AotError, to.add(build.x, y), "node relu");
}

}  // namespace
}  // namespace vitrine::aot
