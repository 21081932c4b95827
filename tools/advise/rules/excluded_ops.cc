// Finds operators that are slower inside a delegate, for example softmax. Also finds models for
// which entering a delegate costs more than it saves.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_excluded_ops(const Context& context) {
  constexpr double kMinShare = 0.04;
  constexpr size_t kMaxOps = 3;
  if (!context.can_lower() || !context.is_delegated()) return {};
  std::map<std::string, double> times;
  for (const inspector::ProfileRow& row : context.profile.rows) {
    if (row.where != inspector::Where::kDelegate || row.is_inserted) continue;
    const std::string op = full_op_of(row);
    // Lowering decomposes an excluded linear layer and delegates the parts. Without a record of
    // source ops, rows have XNNPACK's names, and --exclude-op does not accept these names.
    const bool is_known = op.starts_with("aten.") && op != "aten.linear.default";
    if (is_known) times[op] += time_of(context, row);
  }
  std::vector<std::pair<std::string, double>> ops(times.begin(), times.end());
  std::ranges::sort(ops, [](const auto& a, const auto& b) {
    // Operators that can be slower inside a delegate come first.
    const bool a_can = delegate_ratio(a.first.substr(a.first.find('.') + 1)).high > 1;
    const bool b_can = delegate_ratio(b.first.substr(b.first.find('.') + 1)).high > 1;
    return a_can != b_can ? a_can : a.second > b.second;
  });
  std::vector<Advice> all;
  for (const auto& each : ops) {
    const auto& op = each.first;
    if (ops.size() < 2 || all.size() == kMaxOps) break;
    if (each.second < kMinShare * context.wall_ns()) continue;
    const RowSum rows = sum_rows(context, [&](const inspector::ProfileRow& row) {
      return row.where == inspector::Where::kDelegate && full_op_of(row) == op;
    });
    all.push_back({.name = "exclude_" + op.substr(op.find('.') + 1),
                   .what = fmt::format("Vitrine's kernel executes {} instead of XNNPACK", op),
                   .why = rows_text(context, rows),
                   .rows = rows.numbers,
                   .change = Variant{.lowering = {{"--exclude-op", op}}}});
  }
  all.push_back(
      {.name = "no_backend",
       .what = "Vitrine's kernels execute everything, without delegates",
       .why = fmt::format("{} delegate{} in a run of {}", context.profile.delegate_calls.size(),
                          context.profile.delegate_calls.size() == 1 ? "" : "s",
                          time_text(context.wall_ns())),
       .change = Variant{.lowering = {{"--backend", "none"}, {"--optimize", ""}}}});
  return all;
}

}  // namespace vitrine::tools
