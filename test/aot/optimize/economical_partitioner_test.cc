#include "aot/optimize/economical_partitioner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Puts all calls into one partition, except calls of the excluded operators.
class AllExcept final : public Partitioner {
 public:
  explicit AllExcept(std::set<std::string> excluded) : excluded_(std::move(excluded)) {}
  PartitionResult partition(ExportedProgram& program) const override {
    PartitionResult result;
    for (Node& node : program.graph->nodes()) {
      if (!node.is_call() || excluded_.contains(std::string(node.target().op()))) continue;
      node.meta.delegation_tag = "tag0";
      result.tags["tag0"] = {};
    }
    return result;
  }

 private:
  std::set<std::string> excluded_;
};

struct Partitioned {
  std::vector<std::string> inside;  // delegated operators
  PartitionResult result;
  SparedViews spared;
};

Partitioned partitioned(ModelBuilder& build, Node* result, std::set<std::string> excluded) {
  ExportedProgram program = edge_program(build, {result});
  Partitioned made;
  const auto partitioner =
      economical(std::make_shared<AllExcept>(std::move(excluded)), &made.spared);
  made.result = partitioner->partition(program);
  for (const Node& node : program.graph->nodes()) {
    if (!node.meta.delegation_tag.empty()) made.inside.emplace_back(node.target().op());
  }
  return made;
}

Node* viewed(ModelBuilder& build, Node* x, std::vector<int64_t> sizes) {
  return build.call("aten.view.default", {x, std::move(sizes)});
}

TEST(EconomicalPartitioner, RemovesViewsAtDelegateBorders) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 6});
  x = viewed(build, viewed(build, build.call("aten.exp.default", {x}), {3, 4}), {4, 3});
  x = build.call("aten.sin.default", {viewed(build, build.call("aten.neg.default", {x}), {12})});
  x = build.call("aten.exp.default", {viewed(build, x, {6, 2})});
  const Partitioned made = partitioned(build, x, {"exp"});
  EXPECT_THAT(made.inside, ElementsAre("neg", "view_copy", "sin"));
  EXPECT_EQ(made.spared.views, 3U);
  EXPECT_EQ(made.spared.delegates, 0U);
  EXPECT_EQ(made.result.rejections.size(), 3U);
}

TEST(EconomicalPartitioner, RemovesDelegatesThatContainOnlyViews) {
  ModelBuilder build("Net");
  Node* x = build.call("aten.exp.default", {build.input("x", ScalarType::kFloat, {2, 6})});
  x = build.call("aten.exp.default", {viewed(build, viewed(build, x, {3, 4}), {4, 3})});
  const Partitioned made = partitioned(build, x, {"exp"});
  EXPECT_THAT(made.inside, IsEmpty());
  EXPECT_THAT(made.result.tags, IsEmpty());
  EXPECT_EQ(made.spared.delegates, 1U);
}

// A view that is a result of the program is copied even outside of a delegate, because each result
// has its own memory. Moving the view out of the delegate would save nothing.
TEST(EconomicalPartitioner, KeepsViewsThatAreResults) {
  ModelBuilder build("Net");
  Node* x = build.call("aten.neg.default", {build.input("x", ScalarType::kFloat, {2, 6})});
  const Partitioned made = partitioned(build, viewed(build, x, {3, 4}), {});
  EXPECT_THAT(made.inside, ElementsAre("neg", "view_copy"));
}

}  // namespace
}  // namespace vitrine::aot
