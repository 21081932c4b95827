// Draws the graph of a program for the pages of reports.
#pragma once

#include <filesystem>
#include <string>

#include "inspector/join/profile.h"
#include "inspector/report/row_figures.h"

namespace vitrine::tools {

// Returns the data for the Graph tab of a page (inspector::graph_tab_data): the picture from
// picture.h, or the reason why it cannot be drawn. `etrecord` and `figures` may be empty. If
// `figures` are errors of values, the picture omits times, because recording values slows runs.
std::string page_graph(const std::filesystem::path& program, const std::filesystem::path& etrecord,
                       const inspector::Profile& profile,
                       const inspector::RowFigures& figures = {});

}  // namespace vitrine::tools
