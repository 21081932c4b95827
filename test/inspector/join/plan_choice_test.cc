#include "inspector/join/plan_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {
namespace {

using testing::HasSubstr;

// A plan has a digit for each operator: its debug handle.
class DigitsProfile final : public DelegateProfile {
 public:
  std::string_view backend_id() const override { return "Digits"; }
  DelegatePlan parse_plan(std::string_view text) const override {
    DelegatePlan plan;
    plan.num_operators = text.size();
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] < '0' || text[i] > '9') throw InspectorError("not a digit");
      plan.nodes.push_back({.type = text,
                            .debug_handle = static_cast<uint32_t>(text[i] - '0'),
                            .place = DelegatePlan::Place::kOperator,
                            .op = i,
                            .serves = {}});
    }
    return plan;
  }
};

const DigitsProfile kDigits;

PlanChoice chosen(const std::vector<std::string_view>& texts,
                  const std::vector<int32_t>& identifiers) {
  std::vector<PlanText> plans;
  for (const std::string_view text : texts) plans.push_back({&kDigits, text});
  return choose_plan(plans, identifiers);
}

TEST(PlanChoice, TakesTheNewestThatFits) {
  const PlanChoice choice = chosen({"2", "25", "26", "x"}, {2, 5});
  EXPECT_EQ(choice.why_none, "");
  EXPECT_EQ(choice.profile, &kDigits);
  ASSERT_FALSE(choice.plan.nodes.empty());
  EXPECT_EQ(choice.plan.nodes[0].type, "25") << "the older \"2\" fits, too";
}

TEST(PlanChoice, SaysWhyNoneFits) {
  EXPECT_EQ(chosen({"x", "9"}, {2}).why_none, "not a digit") << "of the oldest";
  EXPECT_THAT(chosen({"25"}, {2}).why_none, HasSubstr("lists 2 operators, but 1 ran"));
  EXPECT_THAT(chosen({"26"}, {2, 5}).why_none,
              HasSubstr("operator 1 has debug handle 6 there and 5 in the run"));
}

}  // namespace
}  // namespace vitrine::inspector
