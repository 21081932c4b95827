// Reports advice as text, as JSON, and as a page with the profile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/advise/baseline.h"
#include "tools/advise/find_advice.h"

namespace vitrine::tools {

std::string advice_text(const Baseline& baseline, const Findings& findings, size_t width);
std::string advice_json(const Baseline& baseline, const Findings& findings);
// Returns a page with the baseline's profile and the advice. Advice marks its rows of the profile.
std::string advice_html(const Baseline& baseline, const Findings& findings);

// A fact below the name of a piece of advice, labeled "why", "how" or "risk". Label and text are
// not empty.
struct AdviceFact {
  std::string label;
  std::string text;
};
std::vector<AdviceFact> advice_facts(const Baseline& baseline, const Advice& advice);

// Returns "vitrine lower --backend xnnpack" or similar, or "as it is" if the baseline is a .pte.
std::string baseline_text(const Baseline& baseline);

// Returns "#1 and #2 together: saves 1.2 to 1.4 of 2.8 us (43 to 50 %)", or an empty text without a
// combination.
std::string together_title(const Findings& findings);

// Adds "    why      CONTENT" in wrapped lines, or nothing if `content` is empty.
void add_line(std::string& text, std::string_view label, const std::string& content, size_t width);

// Describes a saving: "saves 0.9 to 1.4 ms of 8.4 (11 to 17 %)".
std::string saved_text(const Advice& advice);

}  // namespace vitrine::tools
