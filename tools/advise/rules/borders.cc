// Finds time that is lost at the borders of delegates: entering, leaving, and layout changes of
// inputs. --optimize removes calls that split delegates, and moves views out of delegates.
#include <fmt/format.h>

#include <algorithm>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_borders(const Context& context) {
  constexpr double kMinShare = 0.03;
  if (context.profile.delegate_calls.size() < 2) return {};
  const RowSum layouts =
      sum_rows(context, [](const inspector::ProfileRow& row) { return row.is_inserted; });
  double entering = 0;  // time of the calls outside all rows
  for (const inspector::DelegateCall& call : context.profile.delegate_calls) {
    entering += context.profile.typical(call.time);
  }
  for (const inspector::ProfileRow& row : context.profile.rows) {
    if (row.where == inspector::Where::kDelegate) entering -= context.profile.typical(row.time);
  }
  entering = std::max(entering, 0.0);
  const double lost = entering + layouts.ns;
  if (lost < kMinShare * context.wall_ns()) return {};
  std::string why = fmt::format("entering {} delegates takes {} of a run",
                                context.profile.delegate_calls.size(), time_text(entering));
  if (!layouts.numbers.empty()) why += "; layout changes: " + rows_text(context, layouts);
  Advice advice{.name = "optimize",
                .what = "fewer and larger delegates",
                .why = why,
                .rows = layouts.numbers};
  if (context.can_lower()) {
    advice.change = Variant{.lowering = {{"--optimize", ""}}};
  } else {
    advice.how =
        "lower the exported model with 'vitrine lower MODEL.pt2 --backend xnnpack --optimize'";
    advice.saved = Interval{0, lost};
    advice.method = "upper limit: the time of delegate entries and layout changes";
    advice.confidence = Confidence::kModeled;
  }
  return {advice};
}

}  // namespace vitrine::tools
