#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(ViewsToCopies, CopiesAreContiguous) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* permuted = build.call("aten.permute.default", {x, std::vector<int64_t>{1, 0}});
  ASSERT_EQ(permuted->tensor()->strides, (std::vector<SymInt>{1, 3}));
  ExportedProgram program = build.finish({permuted});
  views_to_copies(program);
  EXPECT_THAT(calls(program), ElementsAre("permute_copy"));
  EXPECT_EQ(last_call(program).tensor()->strides, (std::vector<SymInt>{2, 1}));
}

}  // namespace
}  // namespace vitrine::aot
