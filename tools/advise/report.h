// Reports of advice: text and JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/advise/baseline.h"
#include "tools/advise/find_advice.h"

namespace vitrine::tools {

std::string advice_text(const Baseline& baseline, const Findings& findings, size_t width);
std::string advice_json(const Baseline& baseline, const Findings& findings);

// Adds "    why      CONTENT", wrapped; nothing if `content` is empty.
void add_line(std::string& text, std::string_view label, const std::string& content, size_t width);

// "saves 0.9 to 1.4 ms of 8.4 (11 to 17 %)"
std::string saved_text(const Advice& advice);

}  // namespace vitrine::tools
