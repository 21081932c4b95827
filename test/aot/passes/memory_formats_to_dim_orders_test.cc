#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/print.h"
#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(MemoryFormatsToDimOrders, ReplacesMemoryFormatWithDimOrder) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, 2, 3, 4});
  Node* copy =
      build.call("aten.clone.default", {x}, {{"memory_format", MemoryFormat::kChannelsLast}});
  ExportedProgram program = build.finish({copy});
  memory_formats_to_dim_orders(program);
  EXPECT_THAT(calls(program), ElementsAre("_clone_dim_order"));
  EXPECT_EQ(format_argument(*last_call(program).kwarg("dim_order")), "[0, 2, 3, 1]");
  EXPECT_EQ(last_call(program).kwarg("memory_format"), nullptr);
}

}  // namespace
}  // namespace vitrine::aot
