#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/pte_lower/auto/search.h"

namespace vitrine::tools {

// Returns up to three tables: the parts, the measured programs, and the final programs.
std::string auto_tables(const AutoResult& result);
// Returns auto_tables() and auto_command().
std::string auto_text(const AutoResult& result, const AutoOptions& options);
nlohmann::ordered_json auto_json(const AutoResult& result, const AutoOptions& options);
// Returns the content of AutoOptions::report: a page if the name ends in .html, else JSON.
std::string auto_report(const AutoResult& result, const AutoOptions& options);
// Returns the command that makes the chosen program without a search: "pte_lower model.pt2
// --quantize int8 --keep a=float".
std::string auto_command(const AutoResult& result, const AutoOptions& options);
// Returns a warning if the program may exceed the bound on time in another measurement, else an
// empty text.
std::string auto_doubt(const AutoResult& result, const AutoOptions& options);
// Describes a failed search: "the best program has 30.1 dB, below 35 dB".
std::string auto_failure(const AutoResult& result, const AutoOptions& options);

}  // namespace vitrine::tools
