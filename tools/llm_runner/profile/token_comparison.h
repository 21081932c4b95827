// Compares two token profiles phase by phase: for example quantization schemes, numbers of threads
// or prompt lengths.
//
// Adds up the rows that share a key, such as the op. In each phase and profile,
//   sum of rows + sum of the times outside of the model == wall.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspector/compare/comparison.h"
#include "inspector/report/report_table.h"
#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

// A row of the model, or a time outside of the model.
struct SavedRow {
  std::string name;  // name of a time outside of the model; empty for a row
  std::map<inspector::GroupBy, std::string> groups;  // all except kNone
  std::array<double, kPhases> ns{};                  // total of each phase
  double usual_ns = 0;                               // total of decode's usual steps
};

// A token profile from report_token_json().
struct SavedTokens {
  std::string label;  // "old.json"
  std::string model, method, record;
  std::optional<int64_t> threads;
  int64_t max_context = 0;
  std::array<int64_t, kPhases> steps{};
  std::array<int64_t, kPhases> tokens{};
  int64_t usual_steps = 0;
  SavedRow wall;
  double first_token_ns = 0;  // time to the first token after the first prompt
  double token_p50 = 0, token_p99 = 0;
  std::vector<std::pair<int64_t, double>> decoded;  // position and ns of each token, in order
  std::vector<SavedRow> rows;
  std::vector<SavedRow> outside;  // unattributed, then the parts
};

// Throws a FormatError that begins with `label`, usually a file name, if `json` is not a token
// profile.
SavedTokens read_saved_tokens(std::string_view json, const std::string& label);

struct ComparedTokens {
  std::string name;
  size_t rows_a = 0, rows_b = 0;
  std::array<double, kPhases> a{}, b{};  // ns per token of the phase

  double change(size_t phase) const { return b[phase] - a[phase]; }
};

struct TokenComparison {
  SavedTokens a, b;
  std::string matched_by;
  // True if decode's figures cover only usual (undisturbed) steps.
  bool is_over_usual = false;
  std::vector<ComparedTokens> rows;  // in the order of A, then rows that only B has
  std::vector<ComparedTokens> outside;
  ComparedTokens wall;
  // tokens.wall compares decode tokens at the positions that both profiles have. tokens.ops is
  // empty.
  inspector::Comparison tokens;
  std::vector<std::string> notes;
};

// Compares two token profiles. Matches rows by `by`. GroupBy::kNone matches by op and module, or
// only by op if a profile lacks modules.
TokenComparison compare_tokens(SavedTokens a, SavedTokens b, inspector::GroupBy by);

inline constexpr int kTokenComparisonJsonVersion = 1;

// Writes one table for each phase, with the largest change first.
std::string report_token_comparison(const TokenComparison& comparison,
                                    const inspector::TableOptions& options = {});
// Times are in ns per token.
std::string report_token_comparison_json(const TokenComparison& comparison);
// Returns CSV. Each phase has a line for each row, each time outside of the model, and the wall
// time. Times are in ns per token.
std::string report_token_comparison_csv(const TokenComparison& comparison);
// Writes a page without scripts, with a table for each phase.
std::string report_token_comparison_html(const TokenComparison& comparison);

// Returns the rows that ran in the phase, with the largest change first.
std::vector<size_t> order_by_change(const TokenComparison& comparison, size_t phase);
// Returns the times of a row in one phase, as inspector::ComparedColumns needs them.
inspector::ComparedOp compared_op(const ComparedTokens& row, size_t phase);
// side_facts() describes a program and its settings. side_speeds() describes its speeds.
std::vector<std::string> side_facts(const SavedTokens& side);
std::vector<std::string> side_speeds(const SavedTokens& side);

}  // namespace vitrine::llm
