#include "inspector/compare/numerics_comparison.h"

#include <algorithm>
#include <map>
#include <utility>

namespace vitrine::inspector {
namespace {

// Identifies a value of the reference: the last row that takes part in computing the value, and the
// index of the row's result.
using ReferenceValue = std::pair<size_t, size_t>;

// Maps each value of the reference to the rows that were measured against the value, in run order.
// Adds the number of other rows to `others`.
std::map<ReferenceValue, std::vector<size_t>> by_value(const Numerics& numerics, size_t& others) {
  std::map<ReferenceValue, std::vector<size_t>> result;
  for (size_t i = 0; i < numerics.rows.size(); ++i) {
    const NumericsRow& row = numerics.rows[i];
    if (row.reference_rows.empty()) {
      ++others;
    } else {
      result[{row.reference_rows.back(), row.result}].push_back(i);
    }
  }
  return result;
}

}  // namespace

NumericsComparison compare_numerics(const Numerics& a, const Numerics& b) {
  NumericsComparison result;
  auto rows_a = by_value(a, result.unaligned_a);
  auto rows_b = by_value(b, result.unaligned_b);
  for (const auto& [value, rows] : rows_b) rows_a[value];  // adds values that only B has
  for (const auto& [value, of_a] : rows_a) {
    const std::vector<size_t>& of_b = rows_b[value];
    for (size_t i = 0; i < std::max(of_a.size(), of_b.size()); ++i) {
      NumericsPair pair;
      if (i < of_a.size()) pair.a = of_a[i];
      if (i < of_b.size()) pair.b = of_b[i];
      result.pairs.push_back(pair);
    }
  }
  return result;
}

}  // namespace vitrine::inspector
