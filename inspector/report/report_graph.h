// Writes a GraphPicture as one page for a browser. The page works without a network and other
// files. Its layout comes from dagre, which the build adds to the page (cmake/GraphLayout.cmake).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inspector/report/graph_picture.h"

namespace vitrine::inspector {

// False if dagre was not available when this build was configured.
bool has_graph_layout();

// Returns a page that draws the picture. Throws InspectorError if has_graph_layout() is false or if
// the picture is too large. Names are shown as text, never as markup.
std::string report_graph_html(const GraphPicture& picture);

// Return the data of a page's graph tab as JSON: the page that draws the graph and a list that maps
// rows to nodes, or the reason why the graph cannot be drawn.
std::string graph_tab_data(const GraphPicture& picture);
std::string graph_tab_data_without_graph(std::string_view why_not);

// Returns a page with two pictures side by side. Call mark_changes() first. A click on a node shows
// its partner.
std::string report_graph_pair_html(const GraphPicture& a, const GraphPicture& b,
                                   const std::vector<std::string>& summary);

}  // namespace vitrine::inspector
