#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(Linear, IsRestoredFromAddmm) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  Node* w = t.parameter("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  Node* transposed = t.call("aten.permute_copy.default", {w, Ints{1, 0}}, {3, 2});
  Node* b = t.parameter("b", {2}, {10, 20});
  t.output({t.call("aten.addmm.default", {b, x, transposed}, {2, 2})});
  const auto module = lowered(t);
  EXPECT_THAT(node_types(*module), ElementsAre("FullyConnected"));
  EXPECT_THAT(handles_of(*module, 2), ElementsAre(1, 2));
  EXPECT_THAT(run(*module, {{1, 0, 0, 0, 1, 1}})[0], ElementsAre(11, 24, 15, 31));
}

TEST(Linear, AcceptsAWeightThatIsNotTransposed) {
  TestProgram t;
  Node* x = t.input("x", {1, 3});
  Node* w = t.parameter("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  t.output({t.call("aten.mm.default", {x, w}, {1, 2})});
  EXPECT_THAT(run(*lowered(t), {{1, 10, 100}})[0], ElementsAre(531, 642));
}

TEST(Linear, AcceptsDynamicBatches) {
  TestProgram t;
  Node* x = t.dynamic_input("x", {1, 2}, 8);
  Node* linear = t.call("aten.linear.default", {x, t.parameter("w", {1, 2}, {1, -1})}, {-1, 1});
  t.output({linear});
  const auto module = lowered(t);
  EXPECT_THAT(run(*module, {{3, 1, 5, 2, 9, 9}}, 3)[0], ElementsAre(2, 3, 0));
  EXPECT_THAT(run(*module, {{3, 1}}, 1)[0], ElementsAre(2));
}

TEST(Linear, AcceptsComputedWeightsAndBiases) {
  TestProgram t;
  Node* x = t.input("x", {1, 3});
  Node* w = t.input("w", {2, 3});
  Node* b = t.input("b", {2});
  Node* transposed = t.input("transposed", {3, 2});
  t.output({t.call("aten.linear.default", {x, w, b}, {1, 2}),
            t.call("aten.addmm.default", {b, x, transposed}, {1, 2}),
            t.call("aten.linear.default", {x, w, t.parameter("c", {2}, {1, 2})}, {1, 2})});
  EXPECT_THAT(
      run(*lowered(t), {{1, 10, 100}, {1, 2, 3, 4, 5, 6}, {0.5f, -0.5f}, {1, 4, 2, 5, 3, 6}}),
      ElementsAre(ElementsAre(321.5f, 653.5f), ElementsAre(321.5f, 653.5f), ElementsAre(322, 656)));
}

}  // namespace
}  // namespace vitrine::aot::test
