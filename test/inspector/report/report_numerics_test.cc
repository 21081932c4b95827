// Tests the reports of errors as text. A browser test checks that hostile names are shown as text.
#include "inspector/report/report_numerics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "inspector/compare/numerics_comparison.h"
#include "inspector/report/report_numerics_comparison.h"
#include "inspector/report/report_numerics_html.h"
#include "test/support/browser.h"
#include "test/support/joined_profile.h"
#include "test/support/trace_builder.h"

namespace vitrine::inspector {
namespace {

using nlohmann::json;
using test::page_data;
using testing::HasSubstr;
using testing::Not;

constexpr double kExact = std::numeric_limits<double>::infinity();  // the SQNR of equal values
const std::string kHostile = "</script><img/src=x>{{script}}";

Profile hostile_profile(const std::vector<std::string>& kernels, uint64_t ns = 10) {
  test::TraceBuilder trace;
  int32_t instruction = 0;
  for (const std::string& kernel : kernels) trace.kernel(instruction++, kernel, ns, "portable");
  Profile profile = test::joined_profile(trace.dump(), nullptr);
  profile.run.model = kHostile;
  return profile;
}

// Returns the comparison of row `row` with the last of the rows in `reference`.
NumericsRow measured(size_t row, std::vector<size_t> reference, double here, double total) {
  NumericsRow result;
  result.row = row;
  result.type = "f32[4]";
  result.reference_rows = std::move(reference);
  result.lines = {kHostile};
  result.elements = 4;
  result.made_here.emplace().sqnr_db = here;
  result.made_here->mismatches = here == kExact ? 0 : 1;
  result.inherited.emplace();
  result.total.emplace().sqnr_db = total;
  return result;
}

Numerics made_numerics() {
  Numerics numerics;
  numerics.limit_db = 30;
  numerics.rows = {measured(0, {0}, kExact, kExact), measured(1, {1, 2}, 12.5, 11)};
  NumericsRow& other = numerics.rows.emplace_back();
  other.row = 2;
  other.why_not_made_here = kHostile;
  numerics.rows[1].nan = 1;
  numerics.first_below = numerics.first_not_finite = 1;
  numerics.outputs = {{.a = "f32[4]",
                       .b = "f32[4]",
                       .why_not = "",
                       .figures = {.elements = 4, .max_abs = 0.5, .mismatches = 2}}};
  return numerics;
}

const std::vector<std::string> kKernels = {"aten::relu.out", kHostile, "aten::mul.out"};

TEST(ReportNumericsHtml, EscapesNamesAndHasNoExternalReferences) {
  const Profile profile = hostile_profile(kKernels);
  const std::string html = report_numerics_html(made_numerics(), profile, profile, nullptr);
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  for (const char* reference :
       {"<img", "src=\"", "@import", "url(", "href=\"http", "fetch(", "innerHTML", "{{style}}"}) {
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  }
  const json data = page_data(html);
  EXPECT_EQ(data.at("program").at("model"), kHostile);
  EXPECT_EQ(data.at("rows").at(1).at("lines"), json({kHostile}));
  EXPECT_EQ(data.at("without_figures"),
            json::parse(R"([["</script><img/src=x>{{script}}", [2]]])"));
  EXPECT_EQ(data.at("first_below"), 1);
  EXPECT_TRUE(data.at("rows").at(0).at("made_here").at("sqnr_db").is_null());
  EXPECT_TRUE(data.at("rows").at(0).at("made_here").at("is_equal"));
}

TEST(ReportNumericsJson, IgnoresTimesOfDifferentOperators) {
  const Profile profile = hostile_profile(kKernels);
  const auto times = [&](const Profile& timed) {
    json list = json::array();
    const json data = json::parse(report_numerics_json(made_numerics(), profile, profile, &timed));
    for (const json& row : data.at("rows")) list.push_back(row.at("time_ns"));
    return list;
  };
  EXPECT_EQ(times(hostile_profile(kKernels, 70)), json({70.0, 70.0, 70.0}));
  EXPECT_EQ(times(hostile_profile({"aten::relu.out", "aten::add.out", "aten::mul.out"}, 70)),
            json({70.0, nullptr, 70.0}));
  EXPECT_EQ(times(hostile_profile({"aten::relu.out"}, 70)), json({nullptr, nullptr, nullptr}));
}

// Side A runs three ops in three rows. Side B runs the last two ops in one row, and does not
// compute the first op in any row.
TEST(NumericsComparison, AlignsRowsThatComputeTheSameReferenceValue) {
  Numerics a;
  a.rows = {measured(0, {0}, 90, 90), measured(1, {1}, 80, 70), measured(2, {2}, 60, 50)};
  Numerics b;
  NumericsRow without_figures;
  without_figures.row = 1;
  b.rows = {measured(0, {1, 2}, 20, 15), without_figures};
  b.limit_db = 30;
  b.first_below = 0;
  const NumericsComparison comparison = compare_numerics(a, b);
  ASSERT_EQ(comparison.pairs.size(), 3u);
  EXPECT_EQ(comparison.pairs[0].a, 0u);
  EXPECT_FALSE(comparison.pairs[0].b);
  EXPECT_FALSE(comparison.pairs[1].b);
  EXPECT_EQ(comparison.pairs[2].a, 2u);
  EXPECT_EQ(comparison.pairs[2].b, 0u);
  EXPECT_EQ(comparison.unaligned_a, 0u);
  EXPECT_EQ(comparison.unaligned_b, 1u);

  const Profile program_a = hostile_profile({"aten::relu.out", "aten::add.out", "aten::mul.out"});
  const Profile program_b = hostile_profile({"aten::mul.out", "aten::view.out"});
  const NumericsSide side_a{a, program_a};
  const NumericsSide side_b{b, program_b};
  const std::string csv = report_numerics_comparison_csv(comparison, side_a, side_b);
  EXPECT_THAT(csv, HasSubstr("\r\nmul,,3,f32,60,50,1,f32,20,15\r\n"));
  EXPECT_THAT(csv, HasSubstr("\r\nrelu,,1,f32,90,90,,,,\r\n"));
  const json data =
      json::parse(report_numerics_comparison_json(comparison, side_a, side_b, program_a));
  EXPECT_TRUE(data.at("a").at("first_below_row").is_null());
  EXPECT_EQ(data.at("b").at("first_below_row"), 0);
  EXPECT_EQ(data.at("rows").at(2).at("b").at("total").at("sqnr_db"), 15);
  const std::string html =
      report_numerics_comparison_html(comparison, side_a, {b, program_b, &program_b}, program_a);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  const json page = page_data(html);
  EXPECT_EQ(page.at("b").at("names").at("first_below"), "#1 mul");
  EXPECT_EQ(page.at("b").at("without_figures").at(0).at(2), 1);
  EXPECT_EQ(page.at("rows").at(2).at("b").at("time_ns"), 10);
  EXPECT_TRUE(page.at("rows").at(2).at("a").at("time_ns").is_null());
  const std::string table =
      report_numerics_comparison(comparison, side_a, side_b, program_a, {.width = 100});
  EXPECT_THAT(table,
              HasSubstr("aligned by the reference's values: 1 operator value in both A and B"));
  EXPECT_THAT(table, HasSubstr("A  no operator's own SQNR is below 0 dB"));
  EXPECT_THAT(table, HasSubstr("B  first below 30 dB  #1 mul"));
}

}  // namespace
}  // namespace vitrine::inspector
