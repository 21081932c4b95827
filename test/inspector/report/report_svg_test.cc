#include "inspector/report/report_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/inspector/report/sample_profile.h"

namespace vitrine::inspector {
namespace {

using testing::HasSubstr;
using testing::Not;

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
