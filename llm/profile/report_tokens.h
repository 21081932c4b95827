// A token profile for people (a table, a page) and for programs (JSON, CSV, trace events):
// docs/language_models.md.
#pragma once

#include <string>

#include "inspector/report/report_table.h"
#include "llm/profile/token_profile.h"

namespace vitrine::llm {

inline constexpr int kTokenJsonVersion = 2;

// The phases side by side: rows of the model, then what is outside of it, down to the wall time.
std::string report_token_table(const TokenProfile& profile,
                               const inspector::TableOptions& options = {});
// All rows, times in ns.
std::string report_token_json(const TokenProfile& profile);
// A page: all decode tokens, and the ops of the steps that were kept; of several methods, each
// apart.
std::string report_token_html(const TokenProfile& profile);
// All steps on a track of their own, above the ops of those that were kept.
std::string report_token_timeline(const TokenProfile& profile);
// A line a group of the view and a part; the last is the wall time. Times in ns.
std::string report_token_csv(const TokenProfile& profile, const inspector::View& view = {});

}  // namespace vitrine::llm
