#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(IdentityCopies, AreRemovedButKeepTheirDebugHandles) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  Node* copy = t.call("dim_order_ops._clone_dim_order.default", {x}, {2, 3});
  t.output({t.call("aten.abs.default", {copy}, {2, 3})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Abs"));
  EXPECT_THAT(handles_of(*module, 2), ElementsAre(1, 2));
}

TEST(IdentityCopies, CopiesFromInputToOutputAreKept) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  t.output({t.call("dim_order_ops._clone_dim_order.default", {x}, {2, 3})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Copy"));
  EXPECT_EQ(run(*module, {ramp(6)})[0], ramp(6));
}

}  // namespace
}  // namespace vitrine::aot::test
