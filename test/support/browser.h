// Pages in a headless Chromium.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "test/support/scratch_folder.h"

namespace vitrine::test {

// $VITRINE_CHROMIUM, else Chromium or Chrome on the PATH; else empty.
std::string find_browser();

// Opens the page in a window of this size, "390,844", and runs `script` after the page's own.
// Returns what the script put into `seen`; seen.problems are errors, warnings and refused requests.
nlohmann::json drive(const std::string& browser, std::string page, const ScratchFolder& scratch,
                     const char* window, const std::string& script);

// The document in the page's script element of this id.
nlohmann::json page_data(const std::string& page, const std::string& id = "data");

}  // namespace vitrine::test

#define VITRINE_BROWSER(browser)                                                            \
  const std::string browser = ::vitrine::test::find_browser();                              \
  if (browser.empty()) {                                                                    \
    GTEST_SKIP()                                                                            \
        << "needs Chromium, which is not on the PATH: install it, or set VITRINE_CHROMIUM"; \
  }                                                                                         \
  static_assert(true)
