#include "tools/advise/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text/number_texts.h"
#include "inspector/report/row_texts.h"

namespace vitrine::tools {
namespace {

struct OpRatio {
  std::string_view start;  // start of the op's name
  Interval ratio;
};
// The table of delegate_ratio(). The first entry whose `start` begins the op's name applies.
constexpr std::array<OpRatio, 10> kRatios = {{{"conv", {0.31, 0.9}},
                                              {"addmm", {0.85, 1.0}},
                                              {"linear", {0.85, 1.0}},
                                              {"mm", {0.85, 1.0}},
                                              {"bmm", {0.85, 1.0}},
                                              {"softmax", {0.9, 1.33}},
                                              {"_softmax", {0.9, 1.33}},
                                              // XNNPACK folds this op into a convolution.
                                              {"_native_batch_norm", {0.0, 0.1}},
                                              {"native_batch_norm", {0.0, 0.1}},
                                              {"", {0.4, 1.0}}}};

}  // namespace

RowSum sum_rows(const Context& context,
                const std::function<bool(const inspector::ProfileRow&)>& counts) {
  RowSum sum;
  for (size_t i = 0; i < context.profile.rows.size(); ++i) {
    const inspector::ProfileRow& row = context.profile.rows[i];
    if (!counts(row)) continue;
    sum.numbers.push_back(i + 1);
    sum.ns += time_of(context, row);
    sum.calls += row.calls;
  }
  return sum;
}

std::string rows_text(const Context& context, const RowSum& rows) {
  constexpr size_t kShown = 4;
  if (rows.numbers.empty()) return "the profile has no rows for these operators";
  std::string text = rows.numbers.size() == 1 ? "row " : "rows ";
  for (size_t i = 0; i < std::min(rows.numbers.size(), kShown); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", rows.numbers[i]);
  }
  if (rows.numbers.size() > kShown)
    text += fmt::format(" and {} more", rows.numbers.size() - kShown);
  return text + fmt::format(" {} {} ({:.0f} %)", rows.numbers.size() == 1 ? "takes" : "take",
                            time_text(rows.ns), 100 * rows.ns / std::max(context.wall_ns(), 1.0));
}

std::string time_text(double ns) { return inspector::unit_for(ns).with_name(ns); }

std::string bytes_text(double bytes) {
  constexpr std::array kUnits = {"bytes", "kB", "MB", "GB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes,
                     unit == 0 || bytes >= 100 ? 0
                     : bytes >= 10             ? 1
                                               : 2,
                     kUnits[unit]);
}

std::string op_of(const inspector::ProfileRow& row) {
  return row.source_ops.empty() ? std::string() : inspector::op_type(row);
}

std::string full_op_of(const inspector::ProfileRow& row) {
  return row.main_op < row.source_ops.size() ? row.source_ops[row.main_op] : std::string();
}

Interval delegate_ratio(const std::string& op) {
  const auto* const found =
      std::ranges::find_if(kRatios, [&](const OpRatio& row) { return op.starts_with(row.start); });
  return found->ratio;
}

Interval saved_by_delegating(const Context& context, const RowSum& rows) {
  Interval saved;
  for (const size_t number : rows.numbers) {
    const inspector::ProfileRow& row = context.profile.rows[number - 1];
    const Interval ratio = delegate_ratio(op_of(row));
    saved.low += time_of(context, row) * (1 - ratio.high);
    saved.high += time_of(context, row) * (1 - ratio.low);
  }
  return saved;
}

}  // namespace vitrine::tools
