// Command-line options for scores and errors of language models.
#pragma once

#include "tools/common/command_line.h"
#include "tools/llm_runner/options.h"

namespace vitrine::tools {

// Adds --perplexity and --numerics with their options.
void add_evaluation_flags(CLI::App& app, LlmOptions& options);

// Returns true if the options ask for an evaluation. Throws ValidationError for options that do not
// fit the evaluation.
bool check_evaluation_flags(const CLI::App& app, const LlmOptions& options);

}  // namespace vitrine::tools
