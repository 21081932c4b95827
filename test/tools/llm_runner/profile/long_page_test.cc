// Tests the HTML page of a very long run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/support/browser.h"
#include "test/tools/llm_runner/profile/sample_profile.h"
#include "tools/llm_runner/profile/report_tokens.h"

namespace vitrine::llm {
namespace {

using nlohmann::json;

// The number of steps exceeds the number of arguments that a JavaScript call accepts.
TEST_F(SampleProfile, PageShowsAllStepsOfLongRun) {
  VITRINE_BROWSER(browser);
  constexpr size_t kSteps = 200'000;
  std::vector<StepWall>& walls = profile_.walls[kDecode];
  while (walls.size() < kSteps) {
    walls.push_back({.position = walls.size() + 5, .ns = 100'000 + walls.size() % 7});
  }
  profile_.first_token_ns.assign(kSteps, 1000);
  profile_.wall.line = CostLine{.at_start = 1e5, .per_position = 1};
  const test::ScratchFolder scratch;
  const json seen = test::drive(browser, report_token_html(profile_), scratch, "1280,900", R"(
seen.bars = document.querySelector('#steps path').getAttribute('d').split('M').length - 1;
seen.dots = document.querySelector('#growth .tokens').getAttribute('d').split('M').length - 1;
)");
  EXPECT_EQ(seen.at("bars"), kSteps);
  EXPECT_EQ(seen.at("dots"), kSteps);
}

}  // namespace
}  // namespace vitrine::llm
