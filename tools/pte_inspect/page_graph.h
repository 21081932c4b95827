// Draws the graph of a program for the page of its profile.
#pragma once

#include <filesystem>
#include <string>

#include "inspector/join/profile.h"

namespace vitrine::tools {

// Returns the data for the Graph tab of a profile's page (inspector::graph_tab_data): the picture
// from picture.h, or the reason why it cannot be drawn. `etrecord` may be empty.
std::string page_graph(const std::filesystem::path& program, const std::filesystem::path& etrecord,
                       const inspector::Profile& profile);

}  // namespace vitrine::tools
