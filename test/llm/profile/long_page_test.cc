// The page of a run that took a night.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "llm/profile/report_tokens.h"
#include "test/llm/profile/sample_profile.h"
#include "test/support/browser.h"

namespace vitrine::llm {
namespace {

using nlohmann::json;

// More steps than a call of JavaScript can take arguments.
TEST_F(SampleProfile, FillsThePageOfAVeryLongRun) {
  VITRINE_BROWSER(browser);
  constexpr size_t kSteps = 200'000;
  std::vector<StepWall>& walls = profile_.walls[kDecode];
  while (walls.size() < kSteps) {
    walls.push_back({.position = walls.size() + 5, .ns = 100'000 + walls.size() % 7});
  }
  profile_.first_token_ns.assign(kSteps, 1000);
  const test::ScratchFolder scratch;
  const json seen = test::drive(browser, report_token_html(profile_), scratch, "1280,900", R"(
seen.bars = document.querySelector('#steps path').getAttribute('d').split('M').length - 1;
seen.dots = document.querySelector('#growth .tokens').getAttribute('d').split('M').length - 1;
)");
  ASSERT_TRUE(seen.is_object());
  EXPECT_EQ(seen.at("problems"), json::array());
  EXPECT_EQ(seen.at("bars"), kSteps);
  EXPECT_EQ(seen.at("dots"), kSteps);
}

}  // namespace
}  // namespace vitrine::llm
