#include "inspector/report/report_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/inspector/report/sample_profile.h"

namespace vitrine::inspector {
namespace {

using nlohmann::json;

TEST(ReportJson, WritesTheDocumentedMembers) {
  const json report = json::parse(report_json(sample_profile()));
  EXPECT_EQ(report.at("schema_version"), kProfileJsonVersion);
  EXPECT_EQ(report.at("model"), "net.pte");
  EXPECT_EQ(report.at("method"), "forward");
  EXPECT_EQ(report.at("runs"), 50);
  EXPECT_EQ(report.at("threads"), 1);
  EXPECT_EQ(report.at("trace_overhead"), 0.003);
  EXPECT_EQ(report.at("trace_floor"), 0.002);
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

TEST(ReportJson, ListsTheStagesUntilTheFirstResult) {
  Profile profile = sample_profile();
  EXPECT_TRUE(json::parse(report_json(profile)).at("first_result_ns").is_null());
  profile.run.open_ns = 30'000;
  profile.run.pack_ns = 8'000'000;
  profile.run.plan_ns = 500'000;
  profile.wall.first = 2e6;
  const json parts = json::parse(report_json(profile)).at("first_result_ns");
  EXPECT_EQ(parts, json({{"open", 30'000},
                         {"verify", 70'000},
                         {"prepare", 600'000},
                         {"pack", 8'000'000},
                         {"plan", 500'000},
                         {"run", 2'000'000}}));
}

TEST(ReportJson, WritesValidJsonForAnyNames) {
  Profile profile = sample_profile();
  profile.rows[1].kernel = "\xff\x01\"";
  EXPECT_TRUE(json::accept(report_json(profile)));
}

TEST(ReportJson, AcceptsAnEmptyProfile) { EXPECT_TRUE(json::accept(report_json(Profile{}))); }

}  // namespace
}  // namespace vitrine::inspector
