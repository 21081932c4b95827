// Tests the analysis of integer tensors whose elements are functions of their indices. Axis 0 is
// the last dim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "aot/operators/decomposition.h"
#include "aot/passes/index_values.h"
#include "aot/passes/linear_sum.h"
#include "examples/models/model_builder.h"

namespace vitrine::aot {
namespace {

LinearSum sum_of(int64_t constant, std::map<std::string, int64_t> terms) {
  LinearSum sum;
  sum.constant = constant;
  sum.terms = std::move(terms);
  return sum;
}

// (2 + 3 x - y) + 2 (1 + y) = 4 + 3 x + y. Subtracting 3 x removes the term x.
TEST(LinearSum, AddsMultiplesOfAnotherSum) {
  const LinearSum a = sum_of(2, {{"x", 3}, {"y", -1}});
  const auto sum = combined(a, sum_of(1, {{"y", 1}}), 2);
  EXPECT_EQ(sum, sum_of(4, {{"x", 3}, {"y", 1}}));
  EXPECT_EQ(combined(*sum, sum_of(0, {{"x", 1}}), -3), sum_of(4, {{"y", 1}}));
}

TEST(LinearSum, SumWithNumbersThatAreTooLargeIsUnknown) {
  constexpr int64_t kMax = int64_t{1} << 31;
  EXPECT_TRUE(combined(sum_of(kMax - 1, {}), sum_of(1, {}), 1).has_value());
  EXPECT_FALSE(combined(sum_of(kMax, {}), sum_of(1, {}), 1).has_value());
  EXPECT_FALSE(combined({}, sum_of(0, {{"x", kMax}}), 2).has_value());
  EXPECT_FALSE(combined({}, sum_of(1, {}), kMax + 1).has_value());
}

TEST(LinearSum, SumWithTooManyTermsIsUnknown) {
  std::optional<LinearSum> sum = LinearSum();
  int terms = 0;
  while (sum.has_value() && terms < 1000) {
    sum = combined(*sum, sum_of(0, {{"s" + std::to_string(terms++), 1}}), 1);
  }
  EXPECT_FALSE(sum.has_value());
  EXPECT_GT(terms, 8) << "positions and masks need several terms";
}

// Substitutes (axis 1) + 5 for (axis 0) in the sum x + 2 (axis 0) + (axis 1).
TEST(LinearSum, SubstitutesASumForAnAxis) {
  const LinearSum sum = sum_of(0, {{"x", 1}, {"axis 0", 2}, {"axis 1", 1}});
  EXPECT_TRUE(sum.has_axes());
  EXPECT_FALSE(sum_of(0, {{"x", 1}}).has_axes());
  const auto moved = with_axes(sum, [](size_t axis) {
    return axis == 0 ? combined(LinearSum::axis(1), sum_of(5, {}), 1)
                     : std::optional(LinearSum::axis(axis));
  });
  EXPECT_EQ(moved, sum_of(10, {{"x", 1}, {"axis 1", 3}}));
  EXPECT_FALSE(with_axes(sum, [](size_t) { return std::optional<LinearSum>(); }).has_value());
}

Node* arange(ModelBuilder& build, int64_t count) {
  return build.call("aten.arange.default", {count}, {{"dtype", ScalarType::kLong}});
}

class IndexValueRules : public testing::Test {
 protected:
  Node* range(int64_t count) { return arange(build, count); }
  std::optional<LinearSum> value_of(Node* node) {
    const ExportedProgram program = build.finish({node});
    return IndexValues(program).integer(Argument(node));
  }
  ModelBuilder build{"Net"};
};

TEST_F(IndexValueRules, ArangeBeginsAtItsStartArgument) {
  EXPECT_EQ(value_of(build.call("aten.arange.start", {2, 8}, {{"dtype", ScalarType::kLong}})),
            sum_of(2, {{"axis 0", 1}}));
}

TEST_F(IndexValueRules, OperandsAreBroadcastFromTheLastAxis) {
  Node* rows = build.call("aten.unsqueeze.default", {range(4), 1});
  Node* difference = build.call("aten.sub.Tensor", {range(6), rows});
  EXPECT_EQ(value_of(build.call("aten.add.Tensor", {difference, 3})),
            sum_of(3, {{"axis 0", 1}, {"axis 1", -1}}));
}

TEST_F(IndexValueRules, SliceShiftsTheSlicedAxis) {
  EXPECT_EQ(value_of(build.call("aten.slice.Tensor", {range(8), 0, 3, 7})),
            sum_of(3, {{"axis 0", 1}}));
}

// Selects row 2 of a matrix whose element (i, j) is i - j.
TEST_F(IndexValueRules, SelectReplacesTheSelectedAxisWithTheIndex) {
  Node* rows = build.call("aten.unsqueeze.default", {range(4), 1});
  Node* difference = build.call("aten.sub.Tensor", {rows, range(6)});
  EXPECT_EQ(value_of(build.call("aten.select.int", {difference, 0, 2})),
            sum_of(2, {{"axis 0", -1}}));
}

TEST_F(IndexValueRules, IndexingSubstitutesTheIndexForTheAxis) {
  Node* doubled = build.call("aten.add.Tensor", {range(8), range(8)});
  Node* picked = build.call("aten.add.Tensor", {range(3), 5});
  EXPECT_EQ(value_of(build.call("aten.index.Tensor", {doubled, Argument::list({picked})})),
            sum_of(10, {{"axis 0", 2}}));
}

TEST_F(IndexValueRules, InputsBecomeTermsOfTheSum) {
  Node* position = build.input("position", ScalarType::kLong, {1});
  EXPECT_EQ(value_of(build.call("aten.add.Tensor", {range(3), position})),
            sum_of(0, {{"axis 0", 1}, {"%position", 1}}));
}

TEST_F(IndexValueRules, ValuesOfSlicesWithStepsAreUnknown) {
  EXPECT_FALSE(value_of(build.call("aten.slice.Tensor", {range(8), 0, 0, 8, 2})).has_value());
}

TEST_F(IndexValueRules, ValuesOfFloatTensorsAreUnknown) {
  EXPECT_FALSE(value_of(build.call("aten.arange.default", {4}, {{"dtype", ScalarType::kFloat}}))
                   .has_value());
}

// key < query becomes query - key - 1 >= 0.
TEST_F(IndexValueRules, ComparisonsBecomeConditions) {
  Node* rows = build.call("aten.unsqueeze.default", {range(4), 1});
  Node* mask = build.call("aten.lt.Tensor", {range(4), rows});
  const ExportedProgram program = build.finish({mask});
  const std::optional<IndexValue> value = IndexValues(program).of(mask);
  ASSERT_TRUE(value.has_value());
  ASSERT_EQ(value->kind, IndexValue::Kind::kBoolMask);
  EXPECT_THAT(value->conditions, testing::ElementsAre(sum_of(-1, {{"axis 0", -1}, {"axis 1", 1}})));
}

// The mask is key <= position + query.
TEST(IndexValues, RecognizesCausalMask) {
  ModelBuilder build("Mask");
  Node* position = build.input("position", ScalarType::kLong, {1});
  Node* keys = arange(build, 8);
  Node* queries = arange(build, 3);
  Node* rows =
      build.call("aten.unsqueeze.default", {build.call("aten.add.Tensor", {queries, position}), 1});
  Node* mask = build.call("aten.le.Tensor", {keys, rows});
  const ExportedProgram program = build.finish({mask});
  EXPECT_EQ(IndexValues(program).causal_from(mask), sum_of(0, {{"%position", 1}}));
}

// The analysis is recursive. It must limit its depth, because a file may contain a chain of calls
// of any length.
TEST(IndexValues, ValueIsUnknownIfTheChainOfCallsIsTooLong) {
  ModelBuilder build("Chain");
  Node* sum = build.input("x", ScalarType::kLong, {1});
  for (int i = 0; i < 20'000; ++i) sum = build.call("aten.add.Tensor", {sum, 1});
  const ExportedProgram program = build.finish({sum});
  EXPECT_FALSE(IndexValues(program).of(sum).has_value());
}

TEST(IndexValues, ValueIsUnknownIfItHasTooManyConditionsOrTerms) {
  ModelBuilder build("Growth");
  Node* keys = arange(build, 8);
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

// A causal mask hides only later keys, but a window mask also hides old keys.
TEST(MaskValueRules, WindowMaskIsNotCausal) {
  ModelBuilder build("Mask");
  Node* keys = arange(build, 8);
  Node* rows = build.call("aten.unsqueeze.default", {keys, 1});
  Node* causal = build.call("aten.le.Tensor", {keys, rows});
  Node* window = build.call("aten.gt.Tensor", {keys, build.call("aten.sub.Tensor", {rows, 3})});
  Node* mask = build.call("aten.logical_and.default", {causal, window});
  const ExportedProgram program = build.finish({mask});
  IndexValues values(program);
  EXPECT_TRUE(values.causal_from(causal).has_value());
  EXPECT_FALSE(values.causal_from(mask).has_value());
}

constexpr double kLowest = -3.4028234663852886e38;

// A 4 x 4 matrix with ones on and below the diagonal, and zeros above it.
Node* triangle(ModelBuilder& build) {
  return build.call("aten.tril.default", {build.call("aten.ones.default", {Dims{4, 4}})});
}

struct Form {
  const char* name;
  Node* (*make)(ModelBuilder&);
};

std::optional<LinearSum> causal_start(const Form& form) {
  ModelBuilder build("Mask");
  Node* mask = form.make(build);
  const ExportedProgram program = build.finish({mask});
  return IndexValues(program).causal_from(mask);
}

// In each form, query i sees the keys j <= i.
TEST(MaskValueRules, RecognizesEquivalentFormsOfCausalMasks) {
  const Form forms[] = {
      {"a triangle of ones, compared with 0",
       [](ModelBuilder& build) {
         return build.call("aten.ne.Scalar", {triangle(build), 0});
       }},
      {"one minus a triangle, times the lowest number",
       [](ModelBuilder& build) {
         Node* hidden = build.call("aten.rsub.Scalar", {triangle(build), 1.0});
         return build.call("aten.mul.Tensor", {hidden, kLowest});
       }},
      {"the lowest number, set to 0 in place",
       [](ModelBuilder& build) {
         Node* mask = build.call("aten.full.default", {Dims{4, 4}, kLowest});
         Node* next = build.call("aten.add.Tensor", {arange(build, 4), 1});
         Node* rows = build.call("aten.view.default", {next, Dims{4, 1}});
         Node* seen = build.call("aten.lt.Tensor", {arange(build, 4), rows});
         return build.call("aten.masked_fill_.Scalar", {mask, seen, 0});
       }},
      {"an inverted mask, filled where it is 1",
       [](ModelBuilder& build) {
         Node* hidden = build.call("aten.rsub.Scalar", {triangle(build), 1.0});
         Node* where = build.call("aten.to.dtype", {hidden, ScalarType::kBool});
         return build.call("aten.masked_fill.Scalar", {hidden, where, kLowest});
       }},
  };
  for (const Form& form : forms) EXPECT_EQ(causal_start(form), LinearSum()) << form.name;
}

TEST(MaskValueRules, MasksThatResembleCausalMasksAreNotCausal) {
  const Form forms[] = {
      {"the upper triangle is visible",
       [](ModelBuilder& build) {
         Node* ones = build.call("aten.ones.default", {Dims{4, 4}});
         return build.call("aten.ne.Scalar", {build.call("aten.triu.default", {ones}), 0});
       }},
      {"infinity times zero",
       [](ModelBuilder& build) {
         Node* rows = build.call("aten.unsqueeze.default", {arange(build, 4), 1});
         Node* hidden = build.call("aten.gt.Tensor", {arange(build, 4), rows});
         Node* mask = build.call("aten.full.default", {Dims{4, 4}, -kInfinity});
         return build.call("aten.mul.Tensor", {mask, hidden});
       }},
      {"ones and zeros as an additive mask", triangle},
      {"written twice",
       [](ModelBuilder& build) {
         Node* mask = build.call("aten.full.default", {Dims{4, 4}, kLowest});
         Node* rows = build.call("aten.unsqueeze.default", {arange(build, 4), 1});
         Node* seen = build.call("aten.le.Tensor", {arange(build, 4), rows});
         build.call("aten.add_.Tensor", {mask, 1});
         return build.call("aten.masked_fill_.Scalar", {mask, seen, 0});
       }},
  };
  for (const Form& form : forms) EXPECT_FALSE(causal_start(form).has_value()) << form.name;
}

}  // namespace
}  // namespace vitrine::aot
