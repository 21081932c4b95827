#include "aot/passes/pipelines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(Pipelines, ViewsShareMemoryOnlyIfEnabled) {
  for (const bool elide_views : {false, true}) {
    ModelBuilder build("Net");
    Node* x = build.input("x", ScalarType::kFloat, {2, 3});
    Node* flat = build.call("aten.view.default",
                            {build.call("aten.neg.default", {x}), std::vector<int64_t>{6}});
    ExportedProgram program = build.finish({build.call("aten.relu.default", {flat})});
    to_edge(program);
    to_executable(program, {.elide_views = elide_views, .reinplace = false});
    EXPECT_THAT(calls(program), ElementsAre("neg", elide_views ? "view" : "view_copy", "relu"));
  }
}

}  // namespace
}  // namespace vitrine::aot
