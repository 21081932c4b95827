#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/print.h"
#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"

namespace vitrine::aot {
namespace {

using testing::HasSubstr;

TEST(PropagateSpecs, UpdatesShapesAndDtypes) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* permuted = build.call("aten.permute.default", {x, std::vector<int64_t>{1, 0}});
  Node* result = build.call("aten.relu.default", {permuted});
  ExportedProgram program = build.finish({result});
  x->meta.value = contiguous_spec(ScalarType::kHalf, {4, 5});
  propagate_specs(program);
  EXPECT_EQ(to_text(*permuted->tensor()), "f16[5, 4]");
  EXPECT_EQ(to_text(*result->tensor()), "f16[5, 4]");
}

// The number of selected elements depends on the values of the mask.
TEST(PropagateSpecs, DoesNotChangeSpecsOfMaskIndexing) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {6});
  Node* mask = build.input("mask", ScalarType::kBool, {6});
  const TensorSpec spec = contiguous_spec(ScalarType::kFloat, {build.dynamic_size(0, 6)});
  Node* selected = build.call_as("aten.index.Tensor", {x, Argument::list({mask})}, {}, spec);
  ExportedProgram program = build.finish({selected});
  propagate_specs(program);
  EXPECT_EQ(to_text(*selected->tensor()), to_text(spec));
}

TEST(PropagateSpecs, ErrorNamesTheCall) {
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
