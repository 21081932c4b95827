#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/delegate_runner.h"
#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using testing::ElementsAre;

TEST(MaxDimsToAmax, ComputesTheMaximumOverTheHeight) {
  TestProgram t;
  Node* x = t.input("x", {1, 1, 2, 3});
  Node* max = t.call("aten.max.dim", {x, 2, true}, {});
  const Value value = contiguous_spec(ScalarType::kFloat, {1, 1, 1, 3});
  max->meta.value = Value(Value::Items{value, value});
  Node* item = t.program.graph->call(getitem(), {max, 0});
  item->meta.value = value;
  t.output({item});
  EXPECT_THAT(run(*lowered(t), {{1, 5, 3, 4, 2, 6}})[0], ElementsAre(4, 5, 6));
}

TEST(MaxDimsToAmax, ResultsCanBeUsedTwice) {
  TestProgram t;
  Node* x = t.input("x", {1, 1, 2, 3});
  Node* max = t.call("aten.max.dim", {x, 2, true}, {});
  const Value value = contiguous_spec(ScalarType::kFloat, {1, 1, 1, 3});
  max->meta.value = Value(Value::Items{value, value});
  std::vector<Node*> items;
  for (int i = 0; i < 2; ++i) {
    items.push_back(t.program.graph->call(getitem(), {max, 0}));
    items.back()->meta.value = value;
  }
  items.push_back(t.call("aten.add.Tensor", {items[0], items[1]}, {1, 1, 1, 3}));
  t.output(items);
  const auto results = run(*lowered(t), {{1, 5, 3, 4, 2, 6}});
  EXPECT_THAT(results[0], ElementsAre(4, 5, 6));
  EXPECT_THAT(results[1], ElementsAre(4, 5, 6));
  EXPECT_THAT(results[2], ElementsAre(8, 10, 12));
}

}  // namespace
}  // namespace vitrine::aot::test
