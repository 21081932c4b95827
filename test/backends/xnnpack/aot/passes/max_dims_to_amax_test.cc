#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

// The maximum over the height of an image of 2 x 3 pixels.
Node* max_of_input(TestProgram& t) {
  const TensorSpec spec = contiguous_spec(ScalarType::kFloat, {1, 1, 1, 3});
  return t.tuple_call("aten.max.dim", {t.input("x", {1, 1, 2, 3}), 2, true}, {spec, spec});
}

TEST(MaxDimsToAmax, ComputesTheMaximumOverTheHeight) {
  TestProgram t;
  t.output({t.item(max_of_input(t), 0)});
  EXPECT_THAT(run(*lowered(t), {{1, 5, 3, 4, 2, 6}})[0], ElementsAre(4, 5, 6));
}

TEST(MaxDimsToAmax, ResultsCanBeUsedTwice) {
  TestProgram t;
  Node* max = max_of_input(t);
  Node* first = t.item(max, 0);
  Node* second = t.item(max, 0);
  t.output({first, second, t.call("aten.add.Tensor", {first, second}, {1, 1, 1, 3})});
  EXPECT_THAT(run(*lowered(t), {{1, 5, 3, 4, 2, 6}}),
              ElementsAre(ElementsAre(4, 5, 6), ElementsAre(4, 5, 6), ElementsAre(8, 10, 12)));
}

}  // namespace
}  // namespace vitrine::aot::test
