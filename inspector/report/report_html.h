// Writes a profile as one page for a browser. The page works without a network and other files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// The steps of a longer computation, such as the tokens of a decoder. All steps have a time, but
// only the kept steps have complete records. Each kept step is one run of the profile.
struct PageSteps {
  struct Step {
    uint64_t position = 0;
    double ns = 0;
    std::optional<uint32_t> run = {};  // run of the profile, if the step was kept
  };
  // The names of a step's parts, and their times in ns. The times add up to the step's time.
  using Parts = std::vector<std::pair<std::string, double>>;
  std::string what;  // caption, such as "time of each decode token by position"
  std::vector<Step> steps;
  std::vector<Parts> parts = {};  // parts of each run of the profile; empty if unknown
};

// Writes a page with the document of report_json.h and the timeline of the run nearest to the
// median. With steps, the page shows the times of all steps, and the timeline of the kept step
// nearest to the median or of the step that the reader clicks. If `graph` is the result of
// graph_tab_data() in report_graph.h, the page has a tab with the graph. Names are shown as text,
// never as markup.
std::string report_html(const Profile& profile, const PageSteps* steps = nullptr,
                        std::string_view graph = {});

struct ProfilePage {
  const Profile* profile = nullptr;
  const PageSteps* steps = nullptr;  // may be null
};
// The head of a page, which the caller provides: HTML elements, their style, and a script that
// defines showHead(data). The script may use the functions of html/elements.js. data.groups.op
// lists the op types by name, in the order of their colors.
struct PageHead {
  std::string_view elements = {}, style = {}, script = {};
  std::string data = "null";  // JSON
};
// Writes a page for the profiles of several methods in one run; `pages` must not be empty. The page
// shows one profile at a time, initially the first. For profiles with steps, the page omits the
// summary and the memory, so `head` must show them.
std::string report_html(std::span<const ProfilePage> pages, const PageHead* head = nullptr,
                        std::string_view graph = {});

}  // namespace vitrine::inspector
