#include "aot/passes/index_values.h"

#include <gtest/gtest.h>

#include <functional>

#include "aot/builder/model_builder.h"
#include "aot/passes/decomposition.h"

namespace vitrine::aot {
namespace {

// key <= position + query, as models compare ranges.
TEST(IndexValues, SeesACausalMask) {
  ModelBuilder build("Mask");
  Node* position = build.input("position", ScalarType::kLong, {1});
  Node* keys = build.call("aten.arange.default", {8}, {{"dtype", ScalarType::kLong}});
  Node* queries = build.call("aten.arange.default", {3}, {{"dtype", ScalarType::kLong}});
  Node* rows =
      build.call("aten.unsqueeze.default", {build.call("aten.add.Tensor", {queries, position}), 1});
  Node* mask = build.call("aten.le.Tensor", {keys, rows});
  const ExportedProgram program = build.finish({mask});
  const std::optional<LinearSum> start = IndexValues(program).causal_from(mask);
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->constant, 0);
  EXPECT_EQ(start->terms, (std::map<std::string, int64_t>{{"%position", 1}}));
}

// A window hides old keys, too.
TEST(IndexValues, AWindowIsNotCausal) {
  ModelBuilder build("Mask");
  Node* keys = build.call("aten.arange.default", {8}, {{"dtype", ScalarType::kLong}});
  Node* rows = build.call("aten.unsqueeze.default", {keys, 1});
  Node* causal = build.call("aten.le.Tensor", {keys, rows});
  Node* window = build.call("aten.gt.Tensor", {keys, build.call("aten.sub.Tensor", {rows, 3})});
  Node* mask = build.call("aten.logical_and.default", {causal, window});
  const ExportedProgram program = build.finish({mask});
  IndexValues values(program);
  EXPECT_TRUE(values.causal_from(causal).has_value());
  EXPECT_FALSE(values.causal_from(mask).has_value());
}

Node* arange(ModelBuilder& build, int64_t count) {
  return build.call("aten.arange.default", {count}, {{"dtype", ScalarType::kLong}});
}

// What each form leaves open of query i and key j: 0, if j <= i.
TEST(IndexValues, SeesCausalMasksOfOtherForms) {
  const std::vector<std::pair<const char*, std::function<Node*(ModelBuilder&)>>> forms = {
      {"a triangle of ones that is compared",
       [](ModelBuilder& build) {
         Node* ones = build.call("aten.ones.default", {std::vector<int64_t>{4, 4}});
         Node* seen = build.call("aten.tril.default", {ones});
         return build.call("aten.ne.Scalar", {seen, 0});
       }},
      {"one minus a triangle, times the lowest number",
       [](ModelBuilder& build) {
         Node* ones = build.call("aten.ones.default", {std::vector<int64_t>{4, 4}});
         Node* hidden =
             build.call("aten.rsub.Scalar", {build.call("aten.tril.default", {ones}), 1.0});
         return build.call("aten.mul.Tensor", {hidden, -3.4028234663852886e38});
       }},
      {"the lowest number, set to 0 in place",
       [](ModelBuilder& build) {
         Node* mask =
             build.call("aten.full.default", {std::vector<int64_t>{4, 4}, -3.4028234663852886e38});
         Node* rows = build.call(
             "aten.view.default",
             {build.call("aten.add.Tensor", {arange(build, 4), 1}), std::vector<int64_t>{4, 1}});
         Node* seen = build.call("aten.lt.Tensor", {arange(build, 4), rows});
         return build.call("aten.masked_fill_.Scalar", {mask, seen, 0});
       }},
      {"an inverted mask that is filled where it is one",
       [](ModelBuilder& build) {
         Node* seen = build.call("aten.tril.default",
                                 {build.call("aten.ones.default", {std::vector<int64_t>{4, 4}})});
         Node* hidden = build.call("aten.rsub.Scalar", {seen, 1.0});
         Node* where = build.call("aten.to.dtype", {hidden, ScalarType::kBool});
         return build.call("aten.masked_fill.Scalar", {hidden, where, -3.4028234663852886e38});
       }},
  };
  for (const auto& [name, make] : forms) {
    ModelBuilder build("Mask");
    Node* mask = make(build);
    const ExportedProgram program = build.finish({mask});
    const std::optional<LinearSum> start = IndexValues(program).causal_from(mask);
    ASSERT_TRUE(start.has_value()) << name;
    EXPECT_EQ(*start, LinearSum()) << name;
  }
}

// Of masks that look alike: other diagonals, infinity times 0, what another call writes to.
TEST(IndexValues, OtherMasksAreNotCausal) {
  const std::vector<std::pair<const char*, std::function<Node*(ModelBuilder&)>>> forms = {
      {"the upper triangle is seen",
       [](ModelBuilder& build) {
         Node* ones = build.call("aten.ones.default", {std::vector<int64_t>{4, 4}});
         Node* seen = build.call("aten.triu.default", {ones});
         return build.call("aten.ne.Scalar", {seen, 0});
       }},
      {"infinity times zero",
       [](ModelBuilder& build) {
         Node* rows = build.call("aten.unsqueeze.default", {arange(build, 4), 1});
         Node* hidden = build.call("aten.gt.Tensor", {arange(build, 4), rows});
         Node* mask = build.call("aten.full.default", {std::vector<int64_t>{4, 4}, -kInfinity});
         return build.call("aten.mul.Tensor", {mask, hidden});
       }},
      {"ones and zeros that are added",
       [](ModelBuilder& build) {
         Node* ones = build.call("aten.ones.default", {std::vector<int64_t>{4, 4}});
         return build.call("aten.tril.default", {ones});
       }},
      {"written twice",
       [](ModelBuilder& build) {
         Node* mask =
             build.call("aten.full.default", {std::vector<int64_t>{4, 4}, -3.4028234663852886e38});
         Node* rows = build.call("aten.unsqueeze.default", {arange(build, 4), 1});
         Node* seen = build.call("aten.le.Tensor", {arange(build, 4), rows});
         build.call("aten.add_.Tensor", {mask, 1});
         return build.call("aten.masked_fill_.Scalar", {mask, seen, 0});
       }},
  };
  for (const auto& [name, make] : forms) {
    ModelBuilder build("Mask");
    Node* mask = make(build);
    const ExportedProgram program = build.finish({mask});
    IndexValues values(program);
    const std::optional<LinearSum> start = values.causal_from(mask);
    EXPECT_FALSE(start.has_value()) << name;
  }
}

// A file may hold any number of calls.
TEST(IndexValues, LongChainsAreUnknown) {
  ModelBuilder build("Chain");
  Node* sum = build.input("x", ScalarType::kLong, {1});
  for (int i = 0; i < 20'000; ++i) sum = build.call("aten.add.Tensor", {sum, 1});
  const ExportedProgram program = build.finish({sum});
  EXPECT_FALSE(IndexValues(program).of(sum).has_value());
}

TEST(IndexValues, ConditionsAndTermsDoNotGrowWithoutBound) {
  ModelBuilder build("Growth");
  Node* keys = build.call("aten.arange.default", {8}, {{"dtype", ScalarType::kLong}});
  Node* all = build.call("aten.ge.Scalar", {keys, 0});
  Node* same = all;
  Node* total = build.input("x", ScalarType::kLong, {1});
  for (int i = 1; i <= 40; ++i) {
    same = build.call("aten.logical_and.default", {same, same});
    all = build.call("aten.logical_and.default", {all, build.call("aten.ge.Scalar", {keys, i})});
    Node* next = build.input("x" + std::to_string(i), ScalarType::kLong, {1});
    total = build.call("aten.add.Tensor", {total, next});
  }
  const ExportedProgram program = build.finish({same, all, total});
  IndexValues values(program);
  ASSERT_TRUE(values.of(same).has_value());
  EXPECT_EQ(values.of(same)->conditions.size(), 1U);
  EXPECT_FALSE(values.of(all).has_value());
  EXPECT_FALSE(values.of(total).has_value());
}

}  // namespace
}  // namespace vitrine::aot
