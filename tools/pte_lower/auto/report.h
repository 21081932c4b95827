// The reports of --quantize auto.
#pragma once

#include <string>

#include "tools/pte_lower/auto/search.h"

namespace vitrine::tools {

// The parts, the steps of the search, the figures of the programs, and the command that makes the
// program again.
std::string auto_text(const AutoResult& result, const AutoOptions& options);
std::string auto_json(const AutoResult& result, const AutoOptions& options);
// The command without a search: "pte_lower model.pt2 --quantize int8 --keep a=float".
std::string auto_command(const AutoResult& result, const AutoOptions& options);
// "the best program has 30.1 dB, below 35 dB"
std::string auto_failure(const AutoResult& result, const AutoOptions& options);

}  // namespace vitrine::tools
