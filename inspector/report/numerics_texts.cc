#include "inspector/report/numerics_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text/text_layout.h"
#include "inspector/report/comparison_texts.h"

namespace vitrine::inspector {

std::string db_text(double db) {
  return db == std::numeric_limits<double>::infinity() ? "same" : fmt::format("{:.1f}", db);
}

std::string db_text(const std::optional<TensorDifference>& figures) {
  return figures ? db_text(figures->sqnr_db) : "-";
}

std::string stored_text(const NumericsRow& row) {
  if (!row.stored_as) return row.type.substr(0, row.type.find('['));
  return row.stored_as->dtype == ScalarType::kByte ? "uint8" : "int8";
}

std::string op_text(const NumericsRow& row, const RowTexts& texts) {
  const std::string& op = display_width(texts.op) > kLongOp ? texts.short_op : texts.op;
  return row.result == 0 ? op : fmt::format("{} [{}]", op, row.result);
}

bool has_measured_operator(const Numerics& numerics) {
  return std::ranges::any_of(numerics.rows,
                             [](const NumericsRow& row) { return row.made_here.has_value(); });
}

std::string row_name(const NumericsRow& row, const RowTexts& texts) {
  return fmt::format("#{} {}{}{}", row.row + 1, op_text(row, texts),
                     texts.module.empty() ? "" : " ", texts.module);
}

std::vector<std::pair<std::string, std::vector<size_t>>> rows_without_figures(
    const Numerics& numerics) {
  std::vector<std::pair<std::string, std::vector<size_t>>> by_reason;
  for (size_t i = 0; i < numerics.rows.size(); ++i) {
    const NumericsRow& row = numerics.rows[i];
    if (row.made_here) continue;
    auto reason = std::ranges::find(by_reason, row.why_not_made_here,
                                    &decltype(by_reason)::value_type::first);
    if (reason == by_reason.end()) reason = by_reason.insert(reason, {row.why_not_made_here, {}});
    reason->second.push_back(i);
  }
  return by_reason;
}

}  // namespace vitrine::inspector
