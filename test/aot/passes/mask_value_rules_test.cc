#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "aot/operators/decomposition.h"
#include "aot/passes/index_values.h"
#include "examples/models/model_builder.h"

namespace vitrine::aot {
namespace {

Node* arange(ModelBuilder& build, int64_t count) {
  return build.call("aten.arange.default", {count}, {{"dtype", ScalarType::kLong}});
}

// A causal mask hides only later keys, but a window mask also hides old keys.
TEST(MaskValueRules, WindowMaskIsNotCausal) {
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

// In each form, query i sees the keys j <= i.
TEST(MaskValueRules, RecognizesEquivalentFormsOfCausalMasks) {
  const std::vector<std::pair<const char*, std::function<Node*(ModelBuilder&)>>> forms = {
      {"a triangle of ones, compared with 0",
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
      {"an inverted mask, filled where it is 1",
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

// Masks that are similar to causal masks but not causal.
TEST(MaskValueRules, MasksThatResembleCausalMasksAreNotCausal) {
  const std::vector<std::pair<const char*, std::function<Node*(ModelBuilder&)>>> forms = {
      {"the upper triangle is visible",
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
      {"ones and zeros as an additive mask",
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

}  // namespace
}  // namespace vitrine::aot
