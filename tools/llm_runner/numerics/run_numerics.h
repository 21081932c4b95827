// Compares a language model with a reference on the same tokens (--numerics --reference).
#pragma once

#include <string>

#include "tools/llm_runner/numerics/language_numerics.h"
#include "tools/llm_runner/options.h"

namespace vitrine::tools {

// Writes the report. Returns kExitBeyondLimit if a figure is below --fail_below, else 0. Throws
// ToolError, GenerationError, TokenizerError or HostError.
int run_language_numerics(const LlmOptions& options);

std::string report_language_numerics(const llm::LanguageNumerics& numerics,
                                     const inspector::TableOptions& options);
std::string report_language_numerics_json(const llm::LanguageNumerics& numerics);
// Returns CSV with a line for each layer's attention, each layer's output, and each block of
// positions of caches and logits.
std::string report_language_numerics_csv(const llm::LanguageNumerics& numerics);
// The page needs no network and no other files.
std::string report_language_numerics_html(const llm::LanguageNumerics& numerics);

}  // namespace vitrine::tools
