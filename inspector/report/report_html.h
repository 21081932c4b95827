// A profile as one page for a browser: no network, no other files, works from a file: path.
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

// Steps of a longer run, of which the profile's runs were kept in full.
struct PageSteps {
  struct Step {
    uint64_t position = 0;
    double ns = 0;
    std::optional<uint32_t> run = {};  // of the profile, if the step was kept
  };
  // By name, ns: they add up to the time of a step.
  using Parts = std::vector<std::pair<std::string, double>>;
  std::string what;  // "time of each decode token by position"
  std::vector<Step> steps;
  std::vector<Parts> parts = {};  // of each of the profile's runs, if known
};

// The page carries the document of report_json.h and the timeline of the run that took about the
// median time; with steps, of the kept one that took about the median of all steps. It shows them
// all then, and the timeline of the run that is clicked. Names are shown as text whatever they
// contain.
std::string report_html(const Profile& profile, const PageSteps* steps = nullptr);

struct ProfilePage {
  const Profile* profile = nullptr;
  const PageSteps* steps = nullptr;  // null: none
};
// What a page begins with, of a room above: its elements, their style, and a script that defines
// showHead(data), with the functions of html/elements.js. Member groups.op of the data has the op
// types by name, in the order of their colours.
struct PageHead {
  std::string_view elements = {}, style = {}, script = {};
  std::string data = "null";  // JSON
};
// Profiles of one run's methods, of which the page shows one at a time, the first at first. There
// is at least one. The summary and the memory of profiles with steps are left to the head.
std::string report_html(std::span<const ProfilePage> pages, const PageHead* head = nullptr);

}  // namespace vitrine::inspector
