// Writes summaries of the values that a program's operators computed, as a table, CSV or JSON
// (docs/numerics.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formats/etdump/value_origin.h"
#include "inspector/join/profile.h"
#include "inspector/report/report_table.h"
#include "runtime/extension/value_summary.h"

namespace vitrine::inspector {

inline constexpr int kSummariesJsonVersion = 1;

struct SummarizedValue {
  size_t row = 0;     // index of the profile's row
  size_t result = 0;  // index among the row's results
  std::string type;   // for example "f32[1,32,112,112]"
  std::optional<etdump::StoredAs> stored_as;
  ValueSummary summary;
};
using SummarizedValues = std::vector<SummarizedValue>;  // in run order

std::string report_summaries(const SummarizedValues& values, const Profile& profile,
                             const TableOptions& options = {});
std::string report_summaries_csv(const SummarizedValues& values, const Profile& profile);
std::string report_summaries_json(const SummarizedValues& values, const Profile& profile);

}  // namespace vitrine::inspector
