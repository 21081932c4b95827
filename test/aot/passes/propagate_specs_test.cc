#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/builder/model_builder.h"
#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

using testing::HasSubstr;

TEST(PropagateSpecs, FollowsItsInputs) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* turned = build.call("aten.permute.default", {x, std::vector<int64_t>{1, 0}});
  Node* result = build.call("aten.relu.default", {turned});
  ExportedProgram program = build.finish({result});
  x->meta.value = contiguous_spec(ScalarType::kHalf, {4, 5});
  propagate_specs(program);
  EXPECT_EQ(to_text(*turned->tensor()), "f16[5, 4]");
  EXPECT_EQ(to_text(*result->tensor()), "f16[5, 4]");
}

// The numbers of the mask determine how many it picks.
TEST(PropagateSpecs, LeavesWhatAMaskPicks) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {6});
  Node* mask = build.input("mask", ScalarType::kBool, {6});
  const TensorSpec spec = contiguous_spec(ScalarType::kFloat, {build.dynamic_size(0, 6)});
  Node* picked = build.call_as("aten.index.Tensor", {x, Argument::list({mask})}, {}, spec);
  ExportedProgram program = build.finish({picked});
  propagate_specs(program);
  EXPECT_EQ(to_text(*picked->tensor()), to_text(spec));
}

TEST(PropagateSpecs, NamesTheCallThatDoesNotFit) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* y = build.input("y", ScalarType::kFloat, {2, 3});
  ExportedProgram program = build.finish({build.call("aten.add.Tensor", {x, y})});
  y->meta.value = contiguous_spec(ScalarType::kFloat, {4});
  EXPECT_THAT([&] { propagate_specs(program); },
              testing::ThrowsMessage<AotError>(HasSubstr("node add")));
}

}  // namespace
}  // namespace vitrine::aot
