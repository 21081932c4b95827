#include "inspector/report/report_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/inspector/compare/recorded_side.h"
#include "test/inspector/report/sample_profile.h"
#include "test/support/expect_error.h"

namespace vitrine::test {
namespace {

using inspector::ValueComparison;
using testing::HasSubstr;

// The SQNRs are 12.0 (relu), 16.0 (add) and 21.6 dB (mul). The convolutions are equal.
TEST(ReportValues, PrintsTheLowestSqnrsAndTheFirstOpBelowTheLimit) {
  const RecordedSide a = portable_run(), b = portable_run(0.5f);
  const ValueComparison result = compare(a, b);
  inspector::TableOptions options = {120};
  EXPECT_THAT(inspector::report_values(result, a.profile(), b.profile(), options),
              HasSubstr("first below 40 dB  #2 relu r"));
  const auto parsed =
      nlohmann::json::parse(inspector::report_values_json(result, a.profile(), b.profile()));
  EXPECT_EQ(parsed.at("first_below"), 1);
  EXPECT_EQ(parsed.at("values").at(0).at("sqnr_db"), nullptr);
  options.view.top = 2;
  const std::string table = inspector::report_values(result, a.profile(), b.profile(), options);
  EXPECT_THAT(table, HasSubstrs("12.0", "16.0"));
  EXPECT_THAT(table, testing::Not(HasSubstr("convolution")));
  EXPECT_THAT(table, HasSubstr("2 outputs not shown"));
}

TEST(ReportValues, WritesCsvAndHtml) {
  const RecordedSide a = portable_run(), b = portable_run(0.5f);
  ValueComparison result = compare(a, b);
  inspector::UncomparedValue uncompared;
  uncompared.node_op = "aten.mul.Tensor";
  uncompared.reason = "folded <into> relu";
  result.not_compared.push_back(uncompared);
  result.outputs = {
      {.a = "f32[1,10]",
       .b = "f32[1,10]",
       .why_not = "",
       .figures = {
           .elements = 10, .max_abs = 0.5, .mean_abs = 0.25, .sqnr_db = 32.25, .mismatches = 3}}};

  const std::string csv = inspector::report_values_csv(result, a.profile(), b.profile());
  EXPECT_THAT(csv, testing::EndsWith("\r\n"));
  const std::vector<std::string> lines = inspector::lines_of(csv);
  ASSERT_EQ(lines.size(), 1 + result.values.size() + 2);
  EXPECT_THAT(lines, testing::Each(testing::EndsWith("\r")));
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    EXPECT_EQ(std::ranges::count(lines[i], ','), 15) << lines[i];
  }
  EXPECT_THAT(lines[2],
              testing::StartsWith("op,relu,r,kernel,kernel,0,f32[2],f32[2],2,1,0.5,0.25,12.04"));
  EXPECT_THAT(lines[lines.size() - 2], HasSubstr(",folded <into> relu,"));
  EXPECT_EQ(lines.back(), "output,,,,,0,\"f32[1,10]\",\"f32[1,10]\",10,3,0.5,0.25,32.25,1,,\r");

  const std::string page = inspector::report_values_html(result, a.profile(), b.profile());
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("first below 40 dB: #2 relu r · SQNR 12.0 dB"));
  EXPECT_THAT(page, HasSubstr("<tr class=\"marked\"><td class=\"figure\">2</td><td>relu</td>"));
  EXPECT_THAT(page, HasSubstrs("folded &lt;into&gt; relu", "output 0 · f32[1,10] · max diff 0.5"));
  EXPECT_THAT(page, testing::Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace vitrine::test
