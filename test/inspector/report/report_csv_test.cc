#include "inspector/report/report_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/inspector/report/sample_profile.h"

namespace vitrine::inspector {
namespace {

using testing::HasSubstr;

TEST(ReportCsv, WritesOneLinePerRowWithAllCells) {
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
}

TEST(ReportCsv, AcceptsAnEmptyProfile) {
  EXPECT_THAT(report_csv(Profile{}), HasSubstr("unattributed"));
}

}  // namespace
}  // namespace vitrine::inspector
