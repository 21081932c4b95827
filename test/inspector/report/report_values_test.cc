#include "inspector/report/report_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/inspector/compare/recorded_side.h"

namespace vitrine::test {
namespace {

using inspector::ValueComparison;
using testing::HasSubstr;

TEST(ReportValues, PrintsTheFirstOpBelowTheLimit) {
  RecordedSide a, b;
  run_portable(a);
  run_portable(b, 0.5f);
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  const std::string table = inspector::report_values(result, a.profile(), b.profile(), {120});
  EXPECT_THAT(table, HasSubstr("first below 40 dB  #2 relu r"));
  const auto json =
      nlohmann::json::parse(inspector::report_values_json(result, a.profile(), b.profile()));
  EXPECT_EQ(json.at("first_below"), 1);
  EXPECT_EQ(json.at("values").at(0).at("sqnr_db"), nullptr);
}

// The SQNRs are 12.0 (relu), 16.0 (add) and 21.6 dB (mul). The convolutions are equal.
TEST(ReportValues, TopKeepsTheLowestSqnrs) {
  RecordedSide a, b;
  run_portable(a);
  run_portable(b, 0.5f);
  const ValueComparison result = inspector::compare_values(a.run(), b.run(), 40);
  inspector::TableOptions options = {120};
  options.view.top = 2;
  const std::string table = inspector::report_values(result, a.profile(), b.profile(), options);
  EXPECT_THAT(table, HasSubstr("12.0"));
  EXPECT_THAT(table, HasSubstr("16.0"));
  EXPECT_THAT(table, testing::Not(HasSubstr("convolution")));
  EXPECT_THAT(table, HasSubstr("2 outputs beyond the top"));
}

}  // namespace
}  // namespace vitrine::test
