#include "inspector/report/report_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "test/inspector/compare/compared_sides.h"
#include "test/support/expect_error.h"

namespace vitrine::test {
namespace {

using inspector::Comparison;
using testing::HasSubstr;

TEST(ReportComparison, PrintsOpsAndOutputs) {
  const TracedSide a = delegated_net(), b = portable_net();
  Comparison comparison = compare(a, b);
  comparison.outputs = {
      {.a = "f32[4]",
       .b = "f32[4]",
       .why_not = "",
       .figures = {.elements = 4, .max_abs = 0.5, .sqnr_db = 42, .mismatches = 1}}};
  const std::string table = inspector::report_comparison(comparison, a.profile, b.profile, {140});
  EXPECT_THAT(table, HasSubstr("convolution + batch_norm + relu"));
  EXPECT_THAT(table, HasSubstrs("layout change for convolution", "SQNR 42.0 dB", "only in A"));
  const auto parsed =
      nlohmann::json::parse(inspector::report_comparison_json(comparison, a.profile, b.profile));
  EXPECT_EQ(parsed.at("ops").at(1).at("rows_b"), nlohmann::json({0, 1, 2}));
  EXPECT_EQ(parsed.at("outputs").at(0).at("sqnr_db"), 42);
  EXPECT_EQ(parsed.at("aligned_by"), "debug handles");
}

TEST(ReportComparison, WritesCsvAndHtml) {
  const TracedSide a = delegated_net(), b = portable_net();
  const Comparison comparison = compare(a, b);
  const std::string csv = inspector::report_comparison_csv(comparison, a.profile, b.profile);
  EXPECT_THAT(csv, testing::StartsWith("op,module,a_ran_in,b_ran_in,a_p50_ns,"));
  EXPECT_THAT(csv, HasSubstrs("\r\nconvolution + batch_norm + relu,", "\r\nwall,,,,"));
  const auto lines = static_cast<size_t>(std::count(csv.begin(), csv.end(), '\n'));
  EXPECT_EQ(lines, comparison.ops.size() + 3);
  const std::string page = inspector::report_comparison_html(comparison, a.profile, b.profile);
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<td>convolution + batch_norm + relu</td>"));
  EXPECT_THAT(page, HasSubstr("fill=\"var(--slower)\""));
  EXPECT_THAT(page, testing::Not(HasSubstr("<script")));
  const std::string with_graph =
      inspector::report_comparison_html(comparison, a.profile, b.profile, R"({"why_not": "x"})");
  EXPECT_THAT(with_graph, HasSubstr(R"(id="graph-data">{"why_not": "x"}</script>)"));
  EXPECT_THAT(with_graph, HasSubstr("data-rows=\"0 1 2\" data-queue=\"\""));
}

// The times of the ops change by +50, -200 and +10 ns.
TEST(ReportComparison, TopOptionKeepsTheLargestChanges) {
  const TracedSide a =
      kernel_side({{"aten::mul.out", 1000}, {"aten::exp.out", 700}, {"aten::sin.out", 300}});
  const TracedSide b =
      kernel_side({{"aten::mul.out", 1050}, {"aten::exp.out", 500}, {"aten::sin.out", 310}});
  inspector::TableOptions options = {140};
  options.view.top = 1;
  const std::string table =
      inspector::report_comparison(compare(a, b), a.profile, b.profile, options);
  const std::string rows = table.substr(0, table.find("largest changes"));
  EXPECT_THAT(rows, HasSubstr("-0.20"));
  EXPECT_THAT(rows, testing::Not(HasSubstr("mul")));
  EXPECT_THAT(rows, testing::ContainsRegex("2 rows not shown +1.30 +1.36 +\\+0.06"));
}

}  // namespace
}  // namespace vitrine::test
