// Two token profiles side by side, phase by phase: other schemes, threads, prompt lengths.
//
// Rows of the two sides are summed by what they were of the source model; per phase and side
//   sum of rows + sum of what is outside == wall
// holds as it does for profiles.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inspector/report/report_table.h"
#include "llm/profile/token_profile.h"

namespace vitrine::llm {

// A row of the model, or something outside of it.
struct SavedRow {
  std::string name;  // of what is outside
  // For rows: the names of inspector::GroupBy except kNone.
  std::string op, module, line, delegate;
  std::array<double, kPhases> ns{};  // of a phase, in all
  double usual_ns = 0;               // of decode's usual steps
};

// A token profile as report_token_json() writes it.
struct SavedTokens {
  std::string label;  // "old.json"
  std::string model, method, record;
  std::optional<int64_t> threads;
  int64_t max_context = 0;
  std::array<int64_t, kPhases> steps{};
  std::array<int64_t, kPhases> tokens{};
  int64_t usual_steps = 0;  // of decode
  SavedRow wall;
  double first_token_ns = 0;  // of the first prompt
  double token_p50 = 0, token_p99 = 0;
  std::optional<std::pair<int64_t, int64_t>> positions;  // of decode: first and last
  std::vector<SavedRow> rows;
  std::vector<SavedRow> outside;  // unattributed, then the parts
};

// `place` names the text in errors: FormatError if it is not such a profile.
SavedTokens read_saved_tokens(std::string_view json, const std::string& place);

struct ComparedTokens {
  std::string name;
  size_t rows_a = 0, rows_b = 0;
  std::array<double, kPhases> a{}, b{};  // ns a token of the phase

  double change(size_t phase) const { return b[phase] - a[phase]; }
};

struct TokenComparison {
  SavedTokens a, b;
  std::string matched_by;
  // Decode's figures are over usual steps, those without a disturbance; else over all.
  bool is_over_usual = false;
  std::vector<ComparedTokens> rows;  // in the order in which they come in A, then B
  std::vector<ComparedTokens> outside;
  ComparedTokens wall;
  std::vector<std::string> notes;
};

// kNone: by op and module, or by op where a side has no modules.
TokenComparison compare_tokens(SavedTokens a, SavedTokens b, inspector::GroupBy by);

inline constexpr int kTokenComparisonJsonVersion = 1;

// A table a phase, the largest change first.
std::string report_token_comparison(const TokenComparison& comparison,
                                    const inspector::TableOptions& options = {});
// Times in ns a token.
std::string report_token_comparison_json(const TokenComparison& comparison);

}  // namespace vitrine::llm
