#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/builder/model_builder.h"
#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Decompose, GroupNormsOfChannelsLastImagesAreRowMajor) {
  ModelBuilder build("Net");
  Node* image = channels_last_image(build);
  Node* norm = build.call_as("aten.group_norm.default", {image, 1}, {}, *image->tensor());
  EXPECT_THAT(executable_calls(build, norm),
              ElementsAre("_clone_dim_order", "_clone_dim_order", "native_group_norm", "getitem",
                          "_clone_dim_order"));
}

TEST(Decompose, NamesWhatItDoesNotKnow) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 2});
  Node* inverse = build.call_as("aten.linalg_inv.default", {x}, {}, x->meta.value);
  ExportedProgram program = build.finish({inverse});
  try {
    to_edge(program);
    FAIL() << "was taken";
  } catch (const AotError& error) {
    EXPECT_THAT(error.what(), HasSubstr("decompose: node linalg_inv (aten.linalg_inv.default), "
                                        "decompose_test.cc:"));
    EXPECT_THAT(error.what(), HasSubstr(": no decomposition is known, and no kernel computes it"));
  }
}

// A size known only from a tensor becomes a call that reads it.
TEST(Decompose, AsksForSymbolicSizes) {
  ModelBuilder build("Net");
  const SymInt batch = build.dynamic_size(1, 8);
  Node* x = build.input("x", ScalarType::kFloat, {batch, 3, 4});
  Node* weight = build.parameter("weight", {5, 4});
  Node* bias = build.parameter("bias", {5});
  ExportedProgram program = build.finish({build.call("aten.linear.default", {x, weight, bias})});
  to_edge(program);
  EXPECT_THAT(calls(program), ElementsAre("sym_size.int", "mul", "view_copy", "permute_copy",
                                          "addmm", "view_copy"));
  EXPECT_EQ(to_text(*last_call(program).tensor()), "f32[s0, 3, 5]");
}

}  // namespace
}  // namespace vitrine::aot
