// Tests which calls the partitioner tags, which calls it rejects, and which calls it prevents from
// being decomposed.
#include "backends/xnnpack/aot/partitioner.h"

#include <gmock/gmock.h>

#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {
namespace {

using testing::HasSubstr;

TEST(XnnpackPartitioner, TagsPartitionsAndTheirWeightsAndExplainsRejections) {
  TestProgram t;
  Node* x = matrix(t);
  Node* w = t.parameter("w", {4, 4});
  Node* linear = t.call("aten.linear.default", {x, w}, {2, 4});
  Node* tan = t.call("aten.tan.default", {linear}, {2, 4});
  Node* sum = t.call("aten.add.Tensor", {tan, x}, {2, 4});
  t.output({sum});
  const PartitionResult result = XnnpackPartitioner().partition(t.program);
  EXPECT_EQ(result.tags.size(), 2u);
  EXPECT_FALSE(linear->meta.delegation_tag.empty());
  EXPECT_EQ(w->meta.delegation_tag, linear->meta.delegation_tag);
  EXPECT_FALSE(sum->meta.delegation_tag.empty());
  EXPECT_NE(sum->meta.delegation_tag, linear->meta.delegation_tag);
  EXPECT_TRUE(x->meta.delegation_tag.empty());
  ASSERT_EQ(result.rejections.size(), 1u);
  EXPECT_EQ(result.rejections[0].node, tan);
  EXPECT_THAT(result.rejections[0].rule, HasSubstr("aten.tan.default"));
}

TEST(XnnpackPartitioner, PreventsDecompositionOfDelegatedOperatorsOnly) {
  TestProgram t;
  Node* x = matrix(t);
  Node* kept = t.call("aten.linear.default", {x, t.parameter("w", {3, 4})}, {2, 3});
  Node* other = t.call("aten.linear.default", {x, t.input("v", {3, 4})}, {2, 3});
  const OpsToKeep keep = XnnpackPartitioner().ops_to_keep(t.program);
  EXPECT_THAT(keep.targets, testing::Contains("aten.linear.default"));
  EXPECT_THAT(keep.targets, testing::Not(testing::Contains("aten.add.Tensor")));
  EXPECT_TRUE(keep.keeps(*kept));
  EXPECT_FALSE(keep.keeps(*other));
}

TEST(XnnpackPartitioner, MakesOnePartitionPerOperatorIfEnabled) {
  TestProgram t;
  Node* first = t.call("aten.abs.default", {matrix(t)}, {2, 4});
  Node* second = t.call("aten.neg.default", {first}, {2, 4});
  t.output({second});
  EXPECT_EQ(XnnpackPartitioner({.per_op = true}).partition(t.program).tags.size(), 2u);
  EXPECT_NE(first->meta.delegation_tag, second->meta.delegation_tag);
}

}  // namespace
}  // namespace vitrine::aot::test
