// Compares a language model with a reference on the same tokens (--numerics --reference).
#pragma once

#include <string>

#include "tools/llm_runner/numerics/language_numerics.h"
#include "tools/llm_runner/options.h"

namespace vitrine::tools {

// Runs the comparison and writes its report. Returns the exit code: kExitBeyondLimit if a figure is
// below --fail_below. Throws ToolError, GenerationError, TokenizerError or HostError.
int run_language_numerics(const LlmOptions& options);

std::string report_language_numerics(const llm::LanguageNumerics& numerics,
                                     const inspector::TableOptions& options);
std::string report_language_numerics_json(const llm::LanguageNumerics& numerics);
// Returns CSV. Each layer has lines for its attention, its output and each block of positions of
// its caches. For the logits, each block of positions has a line.
std::string report_language_numerics_csv(const llm::LanguageNumerics& numerics);
// Returns a page for a browser. The page needs no network and no other files.
std::string report_language_numerics_html(const llm::LanguageNumerics& numerics);

}  // namespace vitrine::tools
