#pragma once

#include <filesystem>
#include <string>

#include "inspector/join/profile.h"
#include "inspector/report/row_figures.h"

namespace vitrine::tools {

// Returns the data for a page's Graph tab (inspector::graph_tab_data): the picture, or the reason
// why the picture is missing. `etrecord` and `figures` may be empty. With errors of values in
// `figures`, the picture omits times, because recording values slows runs.
std::string page_graph(const std::filesystem::path& program, const std::filesystem::path& etrecord,
                       const inspector::Profile& profile,
                       const inspector::RowFigures& figures = {});

}  // namespace vitrine::tools
