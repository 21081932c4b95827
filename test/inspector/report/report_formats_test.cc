#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inspector/report/report_csv.h"
#include "inspector/report/report_json.h"
#include "inspector/report/report_jsonl.h"
#include "inspector/report/report_svg.h"
#include "test/inspector/report/sample_profile.h"
#include "test/support/read_json.h"

namespace vitrine::inspector {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(ReportCsv, EveryLineHasAllCells) {
  Profile profile = sample_profile();
  profile.rows[2].kernel = "say \"hi\", you";
  profile.rows[3].kernel = "=HYPERLINK(1)";
  const std::string csv = report_csv(profile);
  EXPECT_THAT(csv, HasSubstr("\"say \"\"hi\"\", you\""));
  EXPECT_THAT(csv, HasSubstr(",'=HYPERLINK(1),")) << "the cell must not be a formula";
  EXPECT_THAT(csv, HasSubstr("\"Convolution (NHWC, F32) IGEMM\""));
  EXPECT_THAT(csv, HasSubstr(",1;2;3,1,800000.000,800000.000,720000.000,"));
  const std::vector<std::string> lines = lines_of(csv);
  ASSERT_EQ(lines.size(), 1u + 4u + 1u);
  for (const std::string& line : lines) {
    bool quoted = false;
    size_t cells = 1;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++cells;
    }
    EXPECT_EQ(cells, 18u) << line;
    EXPECT_EQ(line.back(), '\r');
  }
  EXPECT_THAT(lines.back(), testing::StartsWith(",unattributed,"));
  EXPECT_THAT(report_csv(Profile{}), HasSubstr("unattributed"));
}

TEST(ReportJson, WritesTheDocumentedMembers) {
  const json report = json::parse(report_json(sample_profile()));
  EXPECT_EQ(report.at("schema_version"), kProfileJsonVersion);
  test::expect_members(report,
                       R"({"model": "net.pte", "method": "forward", "runs": 50, "threads": 1,
                                   "trace_overhead": 0.003, "trace_floor": 0.002})");
  for (const char* key : {"min", "p50", "p90", "max", "avg"}) {
    EXPECT_TRUE(report.at("wall_ns").at(key).is_number()) << key;
  }
  double sum = report.at("unattributed_ns");
  for (const json& row : report.at("rows")) sum += row.at("avg_ns").get<double>();
  EXPECT_NEAR(sum, report.at("wall_ns").at("avg"), 0.01);

  test::expect_members(report.at("rows")[0], R"({"inserted_for": ["aten.convolution.default"],
                                                 "inserted_for_row": 2, "source_ops": []})");
  const json& convolution = report.at("rows")[1];
  test::expect_members(convolution, R"({
      "where": "delegate", "delegate": "XnnpackBackend", "partition": 0,
      "kernel": "Convolution (NHWC, F32) IGEMM", "source_ops": ["aten.convolution.default"],
      "modules": ["features.0.0"], "debug_handles": [1, 2, 3], "calls": 1, "share": 0.8,
      "avg_ns": 800000, "p50_ns": 800000, "min_ns": 720000})");
  EXPECT_EQ(convolution.at("folded_ops").size(), 2u);
  EXPECT_FALSE(convolution.contains("inserted_for"));
  test::expect_members(report.at("rows")[2],
                       R"({"where": "kernel", "delegate": null, "partition": null})");
  EXPECT_EQ(report.at("rows")[3].at("join"), "inferred");
}

TEST(ReportJson, ListsTheStagesUntilTheFirstResult) {
  Profile profile = sample_profile();
  EXPECT_TRUE(json::parse(report_json(profile)).at("first_result_ns").is_null());
  profile.run.open_ns = 30'000;
  profile.run.pack_ns = 8'000'000;
  profile.run.plan_ns = 500'000;
  profile.wall.first = 2e6;
  const json parts = json::parse(report_json(profile)).at("first_result_ns");
  EXPECT_EQ(parts, json::parse(R"({"open": 30000, "verify": 70000, "prepare": 600000,
                                   "pack": 8000000, "plan": 500000, "run": 2000000})"));
}

TEST(ReportJson, WritesValidJsonForAnyNamesAndEmptyProfiles) {
  Profile profile = sample_profile();
  profile.rows[1].kernel = "\xff\x01\"";
  EXPECT_TRUE(json::accept(report_json(profile)));
  EXPECT_TRUE(json::accept(report_json(Profile{})));
}

std::vector<json> parsed_lines(const std::string& text) {
  std::vector<json> lines;
  for (const std::string& line : lines_of(text)) lines.push_back(json::parse(line));
  return lines;
}

TEST(ReportJsonl, WritesTheRunFirstAndUnattributedTimeLast) {
  const Profile profile = sample_profile();
  const std::vector<json> lines =
      parsed_lines(report_jsonl(profile, {{"device", "bench-07"}, {"commit", "1a2b"}}));
  ASSERT_EQ(lines.size(), profile.rows.size() + 2);
  for (const json& line : lines) {
    EXPECT_EQ(line.at("v"), kProfileRowsVersion);
    test::expect_members(line, R"({"device": "bench-07", "commit": "1a2b", "model": "net.pte"})");
  }
  EXPECT_EQ(lines.front().at("where"), "run");
  EXPECT_EQ(lines.front().at("p50_ns"), profile.wall.p50);
  EXPECT_EQ(lines.back().at("where"), "unattributed");
  test::expect_members(lines[2], R"({"row": 2, "op": "convolution",
                                     "kernel": "Convolution (NHWC, F32) IGEMM"})");
  EXPECT_EQ(lines[2].at("p50_ns"), profile.rows[1].time.p50);
}

TEST(ReportJsonl, LabelsDoNotReplaceOtherMembers) {
  const std::vector<json> lines =
      parsed_lines(report_jsonl(sample_profile(), {{"model", "x"}, {"p50_ns", "y"}, {"row", "z"}}));
  EXPECT_EQ(lines[1].at("model"), "net.pte");
  EXPECT_TRUE(lines[1].at("p50_ns").is_number());
  EXPECT_EQ(lines[1].at("row"), 1);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(ReportSvg, DrawsABarForEachRowAndTheUnattributedTime) {
  const std::string svg = report_svg(sample_profile(), {});
  EXPECT_THAT(svg, testing::StartsWith("<svg "));
  EXPECT_EQ(count(svg, "rx=\"2\""), 5u);  // four rows, and `unattributed`
  EXPECT_THAT(svg, HasSubstr("net.pte · forward"));
  EXPECT_THAT(svg, HasSubstr(">unattributed</text>"));
}

TEST(ReportSvg, SumsTheRowsThatTheTopOptionOmits) {
  const std::string svg = report_svg(sample_profile(), {.top = 1, .filter = {}});
  EXPECT_THAT(svg, HasSubstr("not shown"));
  EXPECT_EQ(count(svg, "rx=\"2\""), 3u);
}

TEST(ReportSvg, EscapesNames) {
  Profile profile = sample_profile();
  profile.run.model = "<a>&\"b\".pte";
  const std::string svg = report_svg(profile, {});
  EXPECT_THAT(svg, HasSubstr("&lt;a&gt;&amp;&quot;b&quot;.pte"));
  EXPECT_THAT(svg, Not(HasSubstr("<a>")));
}

}  // namespace
}  // namespace vitrine::inspector
