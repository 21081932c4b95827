// Runs scripts on pages in a headless Chromium.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace vitrine::test {

// Returns the path of the browser: $VITRINE_CHROMIUM if it is set, otherwise Chromium or Chrome on
// the PATH. Returns an empty string if there is none.
std::string find_browser();

// Opens the page in a window of this size ("390,844") and runs `script` after the page's scripts.
// Returns the object `seen`, to which the script can add values. Expects that the page does not
// scroll sideways and that seen.problems, a list of errors, warnings and blocked requests, is
// empty.
nlohmann::json drive(std::string page, const char* window, const std::string& script);

// Returns a script for a page with a graph. The script first runs the statements `open`, which open
// the tab with the graph. After the page and the graph are loaded, the script clicks the link from
// the selected node to its table row. It then adds values of the node and of the row to `seen`.
// `row` is a JavaScript expression for the element of the row.
std::string visit_graph(const std::string& open, const std::string& row);

// Returns the JSON document in the page's script element with this id.
inline nlohmann::json page_data(const std::string& page, const std::string& id = "data") {
  const std::string open = " id=\"" + id + "\">";
  const size_t begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

}  // namespace vitrine::test

#define VITRINE_NEEDS_BROWSER()                \
  if (::vitrine::test::find_browser().empty()) \
  GTEST_SKIP() << "needs Chromium, which is not on the PATH; install it or set VITRINE_CHROMIUM"

// Skips the test if the build lacks the layout of graphs, which inspector/report/report_graph.h
// declares.
#define VITRINE_NEEDS_GRAPH_LAYOUT()             \
  if (!::vitrine::inspector::has_graph_layout()) \
  GTEST_SKIP() << "dagre was not available to the build"
