// Writes the errors of a program's operators as one page for a browser (docs/numerics.md). The page
// works without a network and other files.
#pragma once

#include <string>
#include <string_view>

#include "inspector/compare/numerics.h"
#include "inspector/join/profile.h"

namespace vitrine::inspector {

// The page shows the times of `timed`, a profile that was made without capturing values. `timed`
// may be null. If `graph` is the result of graph_tab_data() in report_graph.h, the page has a tab
// with the graph of the program. Names are shown as text, never as markup.
std::string report_numerics_html(const Numerics& numerics, const Profile& program,
                                 const Profile& reference, const Profile* timed,
                                 std::string_view graph = {});

}  // namespace vitrine::inspector
