#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "inspector/join/op_names.h"
#include "inspector/join/profile.h"
#include "inspector/report/report_csv.h"
#include "inspector/report/report_json.h"
#include "inspector/report/report_jsonl.h"
#include "inspector/report/report_table.h"
#include "inspector/text/row_texts.h"
#include "inspector/text/text_layout.h"

namespace vitrine::inspector {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TimeStatistics around(double ns) { return {ns * 0.9, ns, ns * 1.1, ns * 1.2, ns}; }

// 1 ms: a layout change, a convolution with folded ops, a kernel, an inferred row.
Profile sample_profile() {
  Profile profile;
  profile.method = "forward";
  profile.run = {.model = "net.pte",
                 .inputs = {"f32[1,3,8,8]"},
                 .outputs = {"f32[1,10]"},
                 .record = "net.etrecord",
                 .load_ns = 100'000,
                 .init_ns = 9'100'000,
                 .warmup_runs = 5,
                 .threads = 1,
                 .peak_rss_bytes = 24'100'000,
                 .steady_rss_bytes = 20'000'000,
                 .memory = MemoryInfo{.planned = 600'000, .packed_weights = 14'000'000},
                 .trace_overhead = 0.003};
  profile.runs = 50;
  profile.wall = around(1e6);
  profile.rows.resize(4);
  ProfileRow& layout = profile.rows[0];
  layout.where = Where::kDelegate;
  layout.is_inserted = true;
  layout.inserted_for = {"aten.convolution.default"};
  layout.inserted_for_row = 2;
  layout.kernel = "Transpose (ND, X32)";
  layout.join = Join::kExact;
  ProfileRow& convolution = profile.rows[1];
  convolution.where = Where::kDelegate;
  convolution.kernel = "Convolution (NHWC, F32) IGEMM";
  convolution.identifier = "1";
  convolution.join = Join::kExact;
  convolution.source_ops = {"aten.convolution.default"};
  convolution.modules = {"features.0.0"};
  convolution.source_lines = {"net.py:7"};
  convolution.folded_ops = {"aten._native_batch_norm_legit_no_training.default",
                            "aten.hardtanh.default"};
  convolution.folded_modules = {"features.0.1", "features.0.2"};
  convolution.debug_handles = {1, 2, 3};
  ProfileRow& kernel = profile.rows[2];
  kernel.kernel = "aten::split_with_sizes_copy.out";
  kernel.library = "portable";
  kernel.join = Join::kExact;
  kernel.source_ops = {"aten.split_with_sizes_copy.default"};
  kernel.modules = {""};
  kernel.source_lines = {""};
  kernel.instruction = 1;
  ProfileRow& guess = profile.rows[3];
  guess.kernel = "aten::copy_";
  guess.library = "portable";
  guess.join = Join::kInferred;
  guess.source_ops = {"aten.copy_.default"};
  guess.modules = {""};
  guess.source_lines = {""};
  guess.instruction = 2;
  for (size_t i = 0; i < 2; ++i) {
    profile.rows[i].delegate = "XnnpackBackend";
    profile.rows[i].delegate_name = "XNNPACK";
    profile.rows[i].delegate_short_name = "xnn";
    profile.rows[i].partition = 0;
  }
  const double times[] = {50e3, 800e3, 120e3, 10e3};
  for (size_t i = 0; i < 4; ++i) {
    profile.rows[i].calls = 1;
    profile.rows[i].time = around(times[i]);
    profile.rows[i].share = times[i] / 1e6;
  }
  profile.unattributed = around(20e3);
  profile.delegate_calls = {{.delegate = "XnnpackBackend",
                             .operators = 2,
                             .source_ops = {"a", "b", "c"},
                             .calls = 1,
                             .time = around(860e3)}};
  return profile;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(ReportTable, SaysWhatRanOnWhatHowLongAndHowSure) {
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
  EXPECT_THAT(lines[4], AllOf(HasSubstr("min 0.90   p50 1.00   p90 1.10   max 1.20   avg 1.00 ms"),
                              testing::EndsWith("names: net.etrecord")));
  EXPECT_EQ(
      lines[7],
      "1  xnn 0     layout change for #2                             Transpose (ND, X32)       "
      "         50.0    50.0   45.0    5.0    5.0  ▋");
  EXPECT_EQ(lines[8],
            "2  xnn 0     convolution + batch_norm + hardtanh  features.0  Convolution (NHWC, F32) "
            "IGEMM     800.0   800.0  720.0   80.0   85.0  ██████████");
  EXPECT_THAT(lines[9], AllOf(HasSubstr("portable"), HasSubstr(" split "), HasSubstr("97.0")));
  EXPECT_THAT(lines[10], HasSubstr("~copy_"));
  EXPECT_THAT(lines[12], AllOf(HasSubstr("unattributed"), HasSubstr(" 20.0 "), HasSubstr("100.0")));
  EXPECT_THAT(lines[13], AllOf(HasSubstr("wall"), HasSubstr("1000.0")));
  EXPECT_THAT(text,
              HasSubstr("ran in   XNNPACK 85.0 %   portable kernels 13.0 %   unattributed 2.0 %"));
  EXPECT_THAT(text, HasSubstr("op type  convolution 80.0 %   split 12.0 %   layout change 5.0 %"));
  EXPECT_THAT(text, HasSubstr("slowest  #2 convolution features.0 80.0 %   #3 split 12.0 %"));
}

TEST(ReportTable, FitsItsWidthAndNeverCutsAFigure) {
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

TEST(ReportTable, IsPlainTextUnlessColourIsAskedFor) {
  EXPECT_THAT(report_table(sample_profile(), {.color = false}), Not(HasSubstr("\x1b")));
  const std::vector<std::string> lines = lines_of(report_table(sample_profile(), {.color = true}));
  size_t colored = 0;
  for (const std::string& line : lines) colored += line.find('\x1b') != std::string::npos ? 1 : 0;
  EXPECT_EQ(colored, 2u) << "the two rows that no delegate took";
}

TEST(ReportTable, LetsNoNameSteerTheTerminal) {
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

TEST(ReportTable, ShowsCallsOnlyIfSomeRowHasSeveral) {
  Profile profile = sample_profile();
  EXPECT_THAT(report_table(profile), Not(HasSubstr("calls")));
  profile.rows[2].calls = 12;
  EXPECT_THAT(report_table(profile), AllOf(HasSubstr("calls"), HasSubstr("   12 ")));
}

TEST(ReportTable, SurvivesAnEmptyProfile) {
  EXPECT_THAT(report_table(Profile{}), HasSubstr("wall"));
  EXPECT_THAT(report_csv(Profile{}), HasSubstr("unattributed"));
  EXPECT_TRUE(json::accept(report_json(Profile{})));
}

TEST(ReportJson, HasWhatItsSchemaPromises) {
  const json report = json::parse(report_json(sample_profile()));
  EXPECT_EQ(report.at("schema_version"), kProfileJsonVersion);
  EXPECT_EQ(report.at("model"), "net.pte");
  EXPECT_EQ(report.at("method"), "forward");
  EXPECT_EQ(report.at("runs"), 50);
  EXPECT_EQ(report.at("threads"), 1);
  EXPECT_EQ(report.at("trace_overhead"), 0.003);
  for (const char* key : {"min", "p50", "p90", "max", "avg"}) {
    EXPECT_TRUE(report.at("wall_ns").at(key).is_number()) << key;
  }
  double sum = report.at("unattributed_ns");
  for (const json& row : report.at("rows")) sum += row.at("avg_ns").get<double>();
  EXPECT_NEAR(sum, report.at("wall_ns").at("avg"), 0.01);

  const json& layout = report.at("rows")[0];
  EXPECT_EQ(layout.at("inserted_for"), json({"aten.convolution.default"}));
  EXPECT_EQ(layout.at("inserted_for_row"), 2);
  EXPECT_EQ(layout.at("source_ops"), json::array());
  const json& convolution = report.at("rows")[1];
  EXPECT_EQ(convolution.at("where"), "delegate");
  EXPECT_EQ(convolution.at("delegate"), "XnnpackBackend");
  EXPECT_EQ(convolution.at("partition"), 0);
  EXPECT_EQ(convolution.at("kernel"), "Convolution (NHWC, F32) IGEMM");
  EXPECT_EQ(convolution.at("source_ops"), json({"aten.convolution.default"}));
  EXPECT_EQ(convolution.at("folded_ops").size(), 2u);
  EXPECT_EQ(convolution.at("modules"), json({"features.0.0"}));
  EXPECT_EQ(convolution.at("debug_handles"), json({1, 2, 3}));
  EXPECT_EQ(convolution.at("calls"), 1);
  EXPECT_DOUBLE_EQ(convolution.at("avg_ns"), 800e3);
  EXPECT_DOUBLE_EQ(convolution.at("p50_ns"), 800e3);
  EXPECT_DOUBLE_EQ(convolution.at("min_ns"), 720e3);
  EXPECT_DOUBLE_EQ(convolution.at("share"), 0.8);
  EXPECT_FALSE(convolution.contains("inserted_for"));
  const json& kernel = report.at("rows")[2];
  EXPECT_EQ(kernel.at("where"), "kernel");
  EXPECT_TRUE(kernel.at("delegate").is_null());
  EXPECT_TRUE(kernel.at("partition").is_null());
  EXPECT_EQ(report.at("rows")[3].at("join"), "inferred");
}

TEST(ReportJson, StaysJsonWhateverTheNamesAre) {
  Profile profile = sample_profile();
  profile.rows[1].kernel = "\xff\x01\"";
  EXPECT_TRUE(json::accept(report_json(profile)));
}

TEST(ReportCsv, HasALineARowAndAsManyCellsInEach) {
  Profile profile = sample_profile();
  profile.rows[2].kernel = "say \"hi\", you";
  profile.rows[3].kernel = "=HYPERLINK(1)";
  const std::string csv = report_csv(profile);
  EXPECT_THAT(csv, HasSubstr("\"say \"\"hi\"\", you\""));
  EXPECT_THAT(csv, HasSubstr(",'=HYPERLINK(1),")) << "no formula";
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
}

TEST(OpNames, AreShortened) {
  EXPECT_EQ(short_name("aten.convolution.default"), "convolution");
  EXPECT_EQ(short_name("aten._native_batch_norm_legit_no_training.default"), "batch_norm");
  EXPECT_EQ(short_name("quantized_decomposed.quantize_per_tensor.default"), "quantize");
  EXPECT_EQ(short_name("aten.view_copy.default"), "view");
  EXPECT_EQ(short_name("aten._softmax.default"), "softmax");
  EXPECT_EQ(short_name("dim_order_ops._to_dim_order_copy.default"), "to_dim_order");
  EXPECT_EQ(short_name("_operator.mul"), "mul");
  EXPECT_EQ(short_name("Conv2d"), "Conv2d");
  EXPECT_EQ(short_name("_"), "_");
  EXPECT_EQ(base_name("aten::max.dim_max"), "max");
  EXPECT_EQ(base_name("max.dim_max"), "max");
  EXPECT_EQ(base_name("aten.max.dim"), "max");
  EXPECT_EQ(op_of_kernel("aten::add.out"), "aten.add.out");
  EXPECT_EQ(op_of_kernel("add.out"), "aten.add.out");
  EXPECT_EQ(op_of_kernel("copy_"), "aten.copy_.default");
}

TEST(CommonPath, IsOfWholeComponents) {
  EXPECT_EQ(common_path({}), "");
  EXPECT_EQ(common_path({"", "a.b"}), "a.b");
  EXPECT_EQ(common_path({"features.0.0", "features.0.1", "features.0.2"}), "features.0");
  EXPECT_EQ(common_path({"a.b", "a.b.c"}), "a.b");
  EXPECT_EQ(common_path({"a.bc", "a.bd"}), "a");
  EXPECT_EQ(common_path({"a.b", "a.bc"}), "a");
  EXPECT_EQ(common_path({"conv1", "bn1"}), "");
}

TEST(RowTexts, KeepAnOperatorsOwnModuleIfTheCommonOneIsFarAway) {
  ProfileRow row;
  row.source_ops = {"aten.convolution.default"};
  row.modules = {"conv1"};
  row.folded_ops = {"aten.relu.default"};
  row.folded_modules = {"act"};
  EXPECT_EQ(row_texts(row).module, "conv1");
  row.modules = {"block.conv1"};
  row.folded_modules = {"block"};
  EXPECT_EQ(row_texts(row).module, "block");
  row.modules = {"net.block.conv1"};
  row.folded_modules = {"net"};
  EXPECT_EQ(row_texts(row).module, "net.block.conv1");
}

std::vector<json> parsed_lines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST(ReportJsonl, EveryRowIsALineBetweenTheRunAndTheRest) {
  const Profile profile = sample_profile();
  const std::vector<json> lines =
      parsed_lines(report_jsonl(profile, {{"device", "bench-07"}, {"commit", "1a2b"}}));
  ASSERT_EQ(lines.size(), profile.rows.size() + 2);
  for (const json& line : lines) {
    EXPECT_EQ(line.at("v"), kProfileRowsVersion);
    EXPECT_EQ(line.at("device"), "bench-07");
    EXPECT_EQ(line.at("commit"), "1a2b");
    EXPECT_EQ(line.at("model"), "net.pte");
  }
  EXPECT_EQ(lines.front().at("where"), "run");
  EXPECT_EQ(lines.front().at("p50_ns"), profile.wall.p50);
  EXPECT_EQ(lines.back().at("where"), "unattributed");
  EXPECT_EQ(lines[2].at("row"), 2);
  EXPECT_EQ(lines[2].at("op"), "convolution");
  EXPECT_EQ(lines[2].at("kernel"), "Convolution (NHWC, F32) IGEMM");
  EXPECT_EQ(lines[2].at("p50_ns"), profile.rows[1].time.p50);
}

TEST(ReportJsonl, LabelsReplaceNoOtherMember) {
  const std::vector<json> lines =
      parsed_lines(report_jsonl(sample_profile(), {{"model", "x"}, {"p50_ns", "y"}, {"row", "z"}}));
  EXPECT_EQ(lines[1].at("model"), "net.pte");
  EXPECT_TRUE(lines[1].at("p50_ns").is_number());
  EXPECT_EQ(lines[1].at("row"), 1);
}

}  // namespace
}  // namespace vitrine::inspector
