// Explains the terms of reports. --legend prints the explanations, and HTML pages show them.
#pragma once

#include <cstddef>
#include <string>

namespace vitrine::inspector {

// Returns a line for each term, at most `width` columns wide.
std::string legend_text(size_t width);

// Returns the terms as items of an HTML definition list.
std::string legend_html();

}  // namespace vitrine::inspector
