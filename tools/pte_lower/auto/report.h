// Reports the results of --quantize auto.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/pte_lower/auto/search.h"

namespace vitrine::tools {

// Returns up to three tables: the parts, the measured programs, and the final programs.
std::string auto_tables(const AutoResult& result);
// Returns auto_tables() and the command that makes the chosen program without a search.
std::string auto_text(const AutoResult& result, const AutoOptions& options);
nlohmann::ordered_json auto_json(const AutoResult& result, const AutoOptions& options);
// Returns the content of the file AutoOptions::report: a page if the file's extension is .html, and
// JSON otherwise.
std::string auto_report(const AutoResult& result, const AutoOptions& options);
// Returns the command that makes the chosen program without a search: "pte_lower model.pt2
// --quantize int8 --keep a=float".
std::string auto_command(const AutoResult& result, const AutoOptions& options);
// Returns a warning if the chosen program may exceed the bound on time in another measurement.
// Otherwise, returns an empty text.
std::string auto_doubt(const AutoResult& result, const AutoOptions& options);
// Returns a text such as "the best program has 30.1 dB, below 35 dB".
std::string auto_failure(const AutoResult& result, const AutoOptions& options);

}  // namespace vitrine::tools
