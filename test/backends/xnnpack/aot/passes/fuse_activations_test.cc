#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(Activations, AreNotFusedIfTheirInputIsAlsoAnOutput) {
  TestProgram t;
  Node* x = t.input("x", {4});
  Node* sum = t.call("aten.add.Tensor", {x, x}, {4});
  Node* relu = t.call("aten.relu.default", {sum}, {4});
  t.output({sum, relu});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Add", "Clamp"));
  EXPECT_THAT(run(*module, {{-1, 2, -3, 4}}),
              ElementsAre(ElementsAre(-2, 4, -6, 8), ElementsAre(0, 4, 0, 8)));
}

TEST(Activations, AreFusedAsBoundsAndKeepTheirDebugHandles) {
  TestProgram t;
  Node* x = t.input("x", {4});
  Node* sum = t.call("aten.mul.Tensor", {x, x}, {4});
  t.output({t.call("aten.hardtanh.default", {sum, 0.5, 6}, {4})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("Multiply"));
  EXPECT_THAT(handles_of(*module, 1), ElementsAre(1, 2));
  EXPECT_THAT(run(*module, {{0, 2, -3, 1}})[0], ElementsAre(0.5f, 4, 6, 1));
}

}  // namespace
}  // namespace vitrine::aot::test
