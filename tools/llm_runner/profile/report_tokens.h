// Writes a token profile as a table, an HTML page, JSON, CSV or trace events
// (docs/language_models.md).
#pragma once

#include <string>

#include "inspector/report/report_table.h"
#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

inline constexpr int kTokenJsonVersion = 2;

// Returns the model's rows, the time outside of the model and the wall time, with prefill and
// decode side by side.
std::string report_token_table(const TokenProfile& profile,
                               const inspector::TableOptions& options = {});
// Returns JSON with all rows. Times are in ns.
std::string report_token_json(const TokenProfile& profile);
// Returns an HTML page with all decode tokens. Each method has a section with the ops of its kept
// steps.
std::string report_token_html(const TokenProfile& profile);
// Returns trace events: a track with all steps, and the ops of the kept steps.
std::string report_token_timeline(const TokenProfile& profile);
// Returns CSV with a line for each group of the view, for each part outside of the model, and for
// the wall time. Times are in ns.
std::string report_token_csv(const TokenProfile& profile, const inspector::View& view = {});

}  // namespace vitrine::llm
