#include "inspector/report/report_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text/text_layout.h"
#include "inspector/report/legend.h"
#include "test/inspector/report/sample_profile.h"

namespace vitrine::inspector {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ReportTable, ListsTheStartupStages) {
  Profile profile = sample_profile();
  profile.run.open_ns = 30'000;
  profile.run.pack_ns = 8'000'000;
  profile.wall.first = 2e6;
  const std::vector<std::string> lines = lines_of(report_table(profile, {.width = 160}));
  EXPECT_EQ(lines[2], "50 runs after 5 warm-ups · 1 thread · tracing +0.3 %");
  EXPECT_EQ(lines[3],
            "start open 30.0 us · verify 70.0 us · prepare 1.10 ms · pack 8.00 ms · run 2.00 ms · "
            "first result after 11.20 ms");
}

TEST(ReportTable, PrintsHeaderRowsAndTotals) {
  const std::string text = report_table(sample_profile(), {.width = 160});
  const std::vector<std::string> lines = lines_of(text);
  EXPECT_EQ(lines[0], "net.pte · forward · in f32[1,3,8,8] · out f32[1,10]");
  EXPECT_EQ(lines[1],
            "XnnpackBackend: 1 partition, 2 operators for 3 source ops · not delegated: 2 portable "
            "kernels, 13.0 % of the time");
  EXPECT_EQ(lines[2],
            "load 100.0 us · init 9.10 ms · 50 runs after 5 warm-ups · 1 thread · tracing +0.3 %");
  EXPECT_EQ(lines[3],
            "memory peak 24.1 MB · steady 20.0 MB · activations 600.0 kB · packed weights 14.0 MB");
  EXPECT_THAT(lines[4], AllOf(HasSubstr("min 0.90   p50 1.00   p90 1.10   max 1.20 ms"),
                              testing::EndsWith("names: net.etrecord")));
  EXPECT_EQ(
      lines[7],
      "1  xnn 0     layout change for #2                             Transpose (ND, X32)       "
      "         50.0    5.0    5.0  ▋");
  EXPECT_EQ(lines[8],
            "2  xnn 0     convolution + batch_norm + hardtanh  features.0  Convolution (NHWC, F32) "
            "IGEMM     800.0   80.0   85.0  ██████████");
  EXPECT_THAT(lines[9], AllOf(HasSubstr("portable"), HasSubstr(" split "), HasSubstr("97.0")));
  EXPECT_THAT(lines[10], HasSubstr("~copy_"));
  EXPECT_THAT(lines[12], AllOf(HasSubstr("unattributed"), HasSubstr(" 20.0 "), HasSubstr("100.0")));
  EXPECT_THAT(lines[13], AllOf(HasSubstr("wall"), HasSubstr("1000.0")));
  EXPECT_THAT(text,
              HasSubstr("ran in   XNNPACK 85.0 %   portable kernels 13.0 %   unattributed 2.0 %"));
  EXPECT_THAT(text, HasSubstr("op type  convolution 80.0 %   split 12.0 %   layout change 5.0 %"));
  EXPECT_THAT(text, HasSubstr("slowest  #2 convolution features.0 80.0 %   #3 split 12.0 %"));
}

TEST(ReportTable, FitsTheWidthWithoutCuttingFigures) {
  Profile profile = sample_profile();
  profile.rows.resize(204, profile.rows[1]);
  for (size_t i = 4; i < 204; ++i) profile.rows[i].share = 1e-4;
  profile.rows[1].modules = {"encoder.layers.17.attention.self.query.projection"};
  profile.rows[2].kernel = "some_quite_long_namespace::some_long_operator_name.with_overload_out";
  profile.rows[3].time = around(123456.7e3);
  for (const size_t width : {80u, 100u, 120u, 160u, 300u}) {
    const std::string text = report_table(profile, {.width = width, .ids = width > 100});
    for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), width) << line;
    EXPECT_THAT(text, HasSubstr("123456.7"));
    EXPECT_THAT(text, HasSubstr("203  xnn 0"));
  }
}

TEST(ReportTable, UsesColorOnlyIfRequested) {
  EXPECT_THAT(report_table(sample_profile(), {.color = false}), Not(HasSubstr("\x1b")));
  const std::vector<std::string> lines = lines_of(report_table(sample_profile(), {.color = true}));
  size_t colored = 0;
  for (const std::string& line : lines) colored += line.find('\x1b') != std::string::npos ? 1 : 0;
  EXPECT_EQ(colored, 2u) << "the two rows that are not delegated";
}

TEST(ReportTable, RemovesControlCharactersFromNames) {
  Profile profile = sample_profile();
  profile.run.model = "a\x1b[2J";
  profile.rows[1].kernel = "k\x1b]0;title\a";
  profile.rows[1].modules = {"m\r\n"};
  profile.rows[2].source_ops = {"aten.x\x1b.y"};
  profile.rows[2].library = "\x9b";
  profile.notes = {"note\x1b[0m"};
  const std::string text = report_table(profile, {.width = 160, .ids = true});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

TEST(ReportTable, PrintsHowMuchTracingOverheadTheClockCauses) {
  Profile profile = sample_profile();
  profile.run.trace_overhead = 0.2;
  profile.run.trace_floor = 0.098;
  EXPECT_THAT(report_table(profile, {.width = 160}), HasSubstr("tracing +20.0 % (clock 9.8 %)"));
  profile.run.trace_floor = 0.009;
  EXPECT_THAT(report_table(profile, {.width = 160}), HasSubstr("tracing +20.0 %\n"));
}

TEST(ReportTable, StartsWithWarningsAndDetailsOfTheRun) {
  Profile profile = sample_profile();
  profile.run.trace_overhead = -0.039;
  profile.run.warnings = {"the process got 24 % of a processor"};
  profile.run.input_values = "random (seed 0)";
  profile.run.tool = "vitrine 1.2.3 (commit 0123456789ab)";
  profile.run.date = "2026-11-27 01:00 UTC";
  profile.run.machine = "Some CPU";
  profile.run.model_digest = "fnv1a64:0123456789abcdef";
  const std::vector<std::string> lines = lines_of(report_table(profile, {.width = 160}));
  EXPECT_EQ(lines[0], "warning: the process got 24 % of a processor");
  EXPECT_EQ(lines[2],
            "inputs: random (seed 0) · vitrine 1.2.3 (commit 0123456789ab) · 2026-11-27 01:00 UTC "
            "· Some CPU · model fnv1a64:0123456789abcdef");
  EXPECT_THAT(lines[4], testing::EndsWith("tracing below noise"));
}

TEST(ReportTable, LabelsTheStatisticAndCapsTheShareOfPeakPerformance) {
  Profile profile = sample_profile();
  profile.run.limits =
      MachineLimits{.flops_per_s = 1e9, .bytes_per_s = 1e9, .threads = 1, .machine = {}};
  profile.rows[0].cost = Cost{.flops = 0, .bytes = 50e3 * 38.36, .is_float32 = true};
  const std::string table = report_table(profile, {.width = 160, .costs = true});
  EXPECT_THAT(table, HasSubstr(" >100"));
  EXPECT_THAT(table, Not(HasSubstr("3836")));
  const size_t begin = table.find("#  ran in");
  EXPECT_THAT(table.substr(begin, table.find('\n', begin) - begin),
              AllOf(HasSubstr("p50 us"), Not(HasSubstr("avg")), Not(HasSubstr("min"))));
  profile.runs_differ = true;
  EXPECT_THAT(report_table(profile), HasSubstr("avg us"));
}

TEST(Legend, ExplainsTheTermsOfTheReport) {
  const std::string legend = legend_text(100);
  for (const char* term : {"tracing", "below noise", "load", "init", "steady", "xnn 0", "(of 25)",
                           "+2", "cum %", "peak %", "unattributed", "wall", "SQNR", "B/A"}) {
    EXPECT_THAT(legend, HasSubstr(term));
  }
  EXPECT_EQ(legend_html().find('&'), std::string::npos);
  for (const std::string& line : lines_of(legend)) EXPECT_LE(display_width(line), 100u) << line;
}

TEST(ReportTable, PrintsCallCountsOnlyIfARowHasSeveralCalls) {
  Profile profile = sample_profile();
  EXPECT_THAT(report_table(profile), Not(HasSubstr("calls")));
  profile.rows[2].calls = 12;
  EXPECT_THAT(report_table(profile), AllOf(HasSubstr("calls"), HasSubstr("   12 ")));
  EXPECT_THAT(report_table(Profile{}), HasSubstr("wall"));
}

}  // namespace
}  // namespace vitrine::inspector
