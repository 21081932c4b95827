// Writes a token profile as a table or an HTML page for people, and as JSON, CSV or trace events
// for other tools. See docs/language_models.md.
#pragma once

#include <string>

#include "inspector/report/report_table.h"
#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

inline constexpr int kTokenJsonVersion = 2;

// Returns a table with prefill and decode side by side. It has the rows of the model, the time
// outside of the model and the wall time.
std::string report_token_table(const TokenProfile& profile,
                               const inspector::TableOptions& options = {});
// Returns JSON with all rows. Times are in ns.
std::string report_token_json(const TokenProfile& profile);
// Returns an HTML page with all decode tokens and the ops of the kept steps. Each method has its
// own section.
std::string report_token_html(const TokenProfile& profile);
// Returns trace events: one track with all steps, and the ops of the kept steps.
std::string report_token_timeline(const TokenProfile& profile);
// Returns CSV with one line for each group of the view, one for each part outside of the model, and
// a last line for the wall time. Times are in ns.
std::string report_token_csv(const TokenProfile& profile, const inspector::View& view = {});

}  // namespace vitrine::llm
