// The page of the suite's results, as Markdown and as one HTML file that needs no network.
#pragma once

#include <string>

#include "bench/report/results.h"

namespace vitrine::bench {

std::string page_markdown(const Results& results);
// In the style of the profile page (inspector/report/html): light and dark, plots as SVG.
std::string page_html(const Results& results);

}  // namespace vitrine::bench
