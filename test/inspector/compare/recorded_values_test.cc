// Uses small traces to test which node a recorded tensor is assigned to.
#include "inspector/compare/recorded_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "test/inspector/compare/recorded_side.h"

namespace vitrine::test {
namespace {

using inspector::ValueComparison;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The nodes are conv, relu, add and mul. The first three are in a delegate.
TEST(RecordedValues, AssignsDelegateOutputsToNodesUsedOutsideTheDelegate) {
  const RecordedSide side = delegated_run();
  const inspector::ValueRun run = side.run();
  const inspector::RecordedValues found =
      inspector::recorded_values(run.profile, run.trace, run.record);
  std::vector<std::optional<size_t>> nodes;
  for (const inspector::RecordedValue& value : found.values) nodes.push_back(value.node);
  EXPECT_THAT(nodes, ElementsAre(1, 2, 3));
  EXPECT_EQ(found.outputs.size(), 1u);
  EXPECT_THAT(found.notes, IsEmpty());
}

// One exported op became five nodes, which share a handle. In run B, the two mul nodes are in
// delegates.
TEST(RecordedValues, DistinguishesNodesWithTheSameHandleByOpAndOrder) {
  const std::vector<NodeText> nodes = {{"mul", "aten.mul.Tensor", 1, {}, "m", {2}},
                                       {"eq", "aten.eq.Scalar", 1, {"mul"}, "m", {2}},
                                       {"mul_1", "aten.mul.Tensor", 1, {"eq"}, "m", {2}},
                                       {"abs", "aten.abs.default", 1, {"mul_1"}, "m", {2}},
                                       {"eq_1", "aten.eq.Scalar", 1, {"abs"}, "m", {2}}};
  const auto run = [&](bool is_delegated) {
    RecordedSide side;
    const auto mul = [&](int32_t instruction, const std::vector<float>& result) {
      if (is_delegated) {
        side.delegate(instruction, {{.id = 1, .metadata = "Multiply", .ns = 10}});
      } else {
        side.kernel(instruction, "aten::mul.out");
      }
      side.value(instruction, result);
    };
    mul(0, {1, 2});
    side.kernel(1, "aten::eq.Scalar_out");
    side.value(1, {0, 1});
    mul(2, {3, 4});
    side.kernel(3, "aten::abs.out");
    side.value(3, {5, 6});
    side.kernel(4, "aten::eq.Scalar_out");
    side.value(4, {1, 1});
    side.end(nodes, R"({"0": [1], "1": 1, "2": [1], "3": 1, "4": 1})");
    return side;
  };
  const RecordedSide a = run(false), b = run(true);
  const ValueComparison result = compare(a, b);
  EXPECT_THAT(ops_of(result), ElementsAre("eq", "abs", "eq"));
  for (const auto& value : result.values) EXPECT_EQ(value.difference.figures.mismatches, 0u);
  EXPECT_EQ(result.notes.size(), 2u);
}

TEST(RecordedValues, OmitsOutputsThatDoNotMatchTheRecord) {
  const RecordedSide a = portable_run();
  RecordedSide b;
  b.delegate(0, {{.id = 1, .metadata = "Convolution", .ns = 10}});
  b.value(0, {0, 2, 5});  // no result of the nodes has three elements
  b.value(0, {1, 3});
  b.kernel(1, "aten::mul.out");
  b.value(1, {0, 6});
  b.end(kRecordedNet, R"({"0": [1, 2, 3], "1": 4})",
        R"({"0": {"name": "XnnpackBackend", "delegate_map": {}}})");
  const ValueComparison result = compare(a, b);
  EXPECT_THAT(ops_of(result), ElementsAre("mul"));
  EXPECT_THAT(result.notes,
              ElementsAre(HasSubstr("B: instruction 0: the order of the delegate's outputs")));
  EXPECT_FALSE(result.is_below());
}

TEST(RecordedValues, UsesTheLastIterationOfALoop) {
  const auto run = [](float first) {
    RecordedSide side;
    for (const float x : {first, 5.0f}) {
      side.kernel(0, "aten::convolution.out");
      side.value(0, {x, x});
    }
    side.end(kRecordedNet, R"({"0": 1})");
    return side;
  };
  const RecordedSide a = run(1), b = run(2);
  const ValueComparison result = compare(a, b);
  ASSERT_EQ(result.values.size(), 1u);
  EXPECT_EQ(result.values[0].difference.figures.mismatches, 0u);
}

}  // namespace
}  // namespace vitrine::test
