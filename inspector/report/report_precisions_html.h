// Writes the report of a search for precisions (pte_lower --quantize auto) as one page for a
// browser. The page works without a network and other files.
#pragma once

#include <string>
#include <string_view>

namespace vitrine::inspector {

// `json` is the report of the search (docs/quantization.md). Names are shown as text, never as
// markup.
std::string report_precisions_html(std::string_view json);

}  // namespace vitrine::inspector
