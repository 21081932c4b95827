// The page of the suite's results, as Markdown and as one HTML file that needs no network.
#pragma once

#include <string>

#include "bench/report/results.h"

namespace vitrine::bench {

std::string page_markdown(const Results& results);
// In the style of the profile page (inspector/report/html): light and dark, plots as SVG.
std::string page_html(const Results& results);

// `document` with tables of the results between its marks: a line "<!-- bench NAME -->" and the
// next "<!-- end -->". NAME is run, models, operators, runtime or counts. HostError if a mark has
// another name or no end, or if there is no mark.
std::string with_results(const std::string& document, const Results& results);

}  // namespace vitrine::bench
