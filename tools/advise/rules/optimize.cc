// Suggests --optimize: fewer copies, simpler attention, rewritten calls, and a smaller memory plan.
#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_optimize(const Context& context) {
  if (!context.can_lower()) return {};
  const RowSum rows = sum_rows(context, [](const inspector::ProfileRow& row) {
    return row.where == inspector::Where::kKernel;
  });
  return {{.name = "optimize",
           .what = "a graph with fewer calls",
           .why = rows.numbers.empty() || !context.is_delegated()
                      ? ""
                      : "outside delegates, " + rows_text(context, rows),
           .rows = context.is_delegated() ? rows.numbers : std::vector<size_t>(),
           .change = Variant{.lowering = {{"--optimize", ""}}}}};
}

}  // namespace vitrine::tools
