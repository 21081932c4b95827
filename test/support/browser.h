// Runs scripts on pages in a headless Chromium.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "test/support/scratch_folder.h"

namespace vitrine::test {

// Returns $VITRINE_CHROMIUM, or else Chromium or Chrome on the PATH, or else an empty string.
std::string find_browser();

// Opens the page in a window of this size ("390,844") and runs `script` after the page's scripts.
// Returns the object `seen`, which the script can fill. Expects that seen.problems, which has
// errors, warnings and blocked requests, is empty, and that seen.overflow is not positive.
nlohmann::json drive(const std::string& browser, std::string page, const ScratchFolder& scratch,
                     const char* window, const std::string& script);

// Returns a script that runs the statements `open`, which open the tab with the graph. The script
// then follows the link from the selected node to the row of that node. `row` is an expression for
// the element of this row. The page's load event waits for the frame with the graph, so the script
// writes its result again after the load event.
std::string visit_graph(const std::string& open, const std::string& row);

// Returns the JSON document in the page's script element with this id.
nlohmann::json page_data(const std::string& page, const std::string& id = "data");

}  // namespace vitrine::test

#define VITRINE_BROWSER(browser)                                                           \
  const std::string browser = ::vitrine::test::find_browser();                             \
  if (browser.empty()) {                                                                   \
    GTEST_SKIP()                                                                           \
        << "needs Chromium, which is not on the PATH; install it or set VITRINE_CHROMIUM"; \
  }                                                                                        \
  static_assert(true)
