#include "inspector/report/report_jsonl.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "test/inspector/report/sample_profile.h"

namespace vitrine::inspector {
namespace {

using nlohmann::json;

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

TEST(ReportJsonl, LabelsDoNotReplaceOtherMembers) {
  const std::vector<json> lines =
      parsed_lines(report_jsonl(sample_profile(), {{"model", "x"}, {"p50_ns", "y"}, {"row", "z"}}));
  EXPECT_EQ(lines[1].at("model"), "net.pte");
  EXPECT_TRUE(lines[1].at("p50_ns").is_number());
  EXPECT_EQ(lines[1].at("row"), 1);
}

}  // namespace
}  // namespace vitrine::inspector
