// A profile as one page for a browser: no network, no other files, works from a file: path.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
  std::string what;  // "time of each decode token by position"
  std::vector<Step> steps;
  std::vector<std::pair<std::string, uint64_t>> caches;  // part of the planned memory; bytes
};

// The page carries the document of report_json.h and the timeline of the run that took about the
// median time. With steps, it shows them all and the timeline of the run that is clicked. Names are
// shown as text whatever they contain.
std::string report_html(const Profile& profile, const PageSteps* steps = nullptr);

struct ProfilePage {
  const Profile* profile = nullptr;
  const PageSteps* steps = nullptr;  // null: none
};
// Profiles of one run's methods, of which the page shows one at a time, the first at first. There
// is at least one.
std::string report_html(std::span<const ProfilePage> pages);

}  // namespace vitrine::inspector
