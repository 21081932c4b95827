// Tests the page of `vitrine advise --format html` in a headless Chromium: a piece of advice marks
// the rows that it concerns.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/support/browser.h"
#include "test/support/corpus.h"
#include "test/tools/command.h"

namespace vitrine::test {
namespace {

constexpr char kPointAndClick[] = R"(
const marked = () => [...document.querySelectorAll('#table tr.marked')].map((row) => Number(row.dataset.rows));
const data = JSON.parse(document.getElementById('head-data').textContent);
const line = data.lines.find((one) => one.rows.length), item = document.querySelector(`#advice li[data-name="${line.name}"]`);
seen.lines = [document.querySelectorAll('#advice > li').length, data.lines.length];
seen.rows = [...line.rows].sort((a, b) => a - b);
seen.before = marked();
item.dispatchEvent(new PointerEvent('pointerenter'));
seen.pointed = marked();
item.dispatchEvent(new PointerEvent('pointerleave'));
seen.left = marked();
item.querySelector('.advice-head').click();
seen.clicked = marked();
item.querySelector('.advice-head').click();
seen.released = marked();
item.querySelector('.to-rows').click();
seen.shown = marked();
seen.overflow = document.documentElement.scrollWidth - innerWidth;
)";

TEST(AdvicePage, AdviceLinesHighlightRowsInTheTable) {
  VITRINE_BROWSER(browser);
  const ScratchFolder scratch;
  const CommandResult result =
      succeeded(run_tool(VITRINE_COMMAND, "advise --force --no_trials --threads 1 --format html " +
                                              sample("digits_portable/model.pte")));
  for (const char* window : {"1280,900", "390,844"}) {
    SCOPED_TRACE(window);
    const nlohmann::json seen = drive(browser, result.out, scratch, window, kPointAndClick);
    EXPECT_EQ(seen.at("lines")[0], seen.at("lines")[1]);
    ASSERT_FALSE(seen.at("rows").empty());
    for (const char* state : {"pointed", "clicked", "shown"}) {
      EXPECT_EQ(seen.at(state), seen.at("rows")) << state;
    }
    for (const char* state : {"before", "left", "released"}) {
      EXPECT_EQ(seen.at(state), nlohmann::json::array()) << state;
    }
  }
}

}  // namespace
}  // namespace vitrine::test
