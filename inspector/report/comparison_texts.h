#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/number_texts.h"
#include "base/text/text_table.h"
#include "inspector/compare/comparison.h"

namespace vitrine::inspector {

// Names of a compared op. All texts are printable (text_layout.h).
struct ComparedTexts {
  std::string op;        // "convolution + batch_norm + hardtanh", "layout change for convolution"
  std::string short_op;  // for narrow columns
  std::string module;
  std::string place_a, place_b;  // where A and B ran the op: "xnn 0", "portable x3"; may be empty
};
ComparedTexts compared_texts(const ComparedOp& op, const Profile& a, const Profile& b);

// Returns lines for the head of a report, at most `width` cells wide: the profile's model and
// method, `facts`, the digest of the model, and the file from which the names of ops were read.
std::string side_line(std::string_view label, const Profile& profile,
                      const std::vector<std::string>& facts, size_t width);

// Returns a JSON object with the members "op", "module", "rows_a" and "rows_b".
nlohmann::ordered_json compared_json(const ComparedOp& op, const ComparedTexts& texts);

// Returns "debug handles", "op and module" or "names in run order".
const char* alignment_name(Alignment alignment);

// Returns "too_few_runs", "no_change", "faster" or "slower".
const char* verdict_name(Verdict verdict);

// The text for kNoChange if the interval of B/A excludes 1: there is a change, but perhaps a small
// one.
inline constexpr const char* kSmallChange = "the change may be less than 2 %";

// Returns "2 pairs of runs are too few to decide" or "2 runs of A and 5 of B are too few to
// decide".
std::string too_few_runs_text(const Comparison& comparison);

bool is_changed(const ComparedOp& op);

// Returns "A 12.0 us   B 13.0 us   B/A 1.08 (1.02 to 1.11): B is slower".
std::string verdict_line(const Comparison& comparison);

// Returns a JSON object with the times, the ratio and the change.
nlohmann::ordered_json compared_times_json(const ComparedOp& op);

// The columns of a table that compares times of A and B: the times, the ratio and its interval, the
// change, and its share of the change in wall time. A table leaves out a column if all of its cells
// are empty.
struct ComparedColumns {
  // The ranks of columns in a TextTable. A table that is too wide first leaves out the columns with
  // the highest rank. Callers give columns of names a rank between kIntervalRank and kChangeRank.
  static constexpr size_t kIntervalRank = 1, kChangeRank = 4, kShareRank = 5;

  Unit unit;
  double wall_change = 0;  // change in ns; 0: no shares

  // Adds the columns to `table`. `what`, such as "p50 ", precedes the unit in the titles of the
  // times. A table that is too wide first leaves out `what`, then the columns of the share, the
  // change and the interval.
  void add_to(TextTable& table, std::string_view what) const;
  std::vector<std::string> titles() const;
  std::vector<std::string> figures(const ComparedOp& op, bool in_a = true, bool in_b = true) const;
};
ComparedColumns compared_columns(const Comparison& comparison);

}  // namespace vitrine::inspector
