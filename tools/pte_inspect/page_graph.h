// Draws the graph of a program for the page of its profile.
#pragma once

#include <filesystem>
#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

// Returns the picture of picture.h for the tab of a profile's page, or the reason why there is none
// (inspector::graph_tab_data). `etrecord` may be empty.
std::string page_graph(const std::filesystem::path& program, const std::filesystem::path& etrecord,
                       const inspector::Profile& profile);

}  // namespace vitrine::tools
