// Suggests XNNPACK for a program without delegates. XNNPACK fuses operators and packs weights once.
#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {
namespace {

// Delegates may come from another version of Vitrine or from another partitioner.
std::vector<Advice> lower_again(const Context& context) {
  if (!context.is_file || !context.can_lower()) return {};
  return {{.name = "lower_again",
           .what = "lower the model again with this version",
           .why = "the file may be from another version or have different delegates",
           .change = Variant{.lowering = context.baseline.lowering}}};
}

}  // namespace

std::vector<Advice> advise_delegation(const Context& context) {
  if (context.is_delegated()) return lower_again(context);
  const RowSum rows = sum_rows(context, [](const inspector::ProfileRow& row) {
    return row.where == inspector::Where::kKernel;
  });
  if (rows.numbers.empty()) return {};
  Advice advice{.name = "xnnpack",
                .what = "run the supported ops with XNNPACK instead of Vitrine's kernels",
                .why = rows_text(context, rows),
                .rows = rows.numbers,
                .saved = saved_by_delegating(context, rows),
                .method = "measured ratios of kernels and delegates, by operator",
                .confidence = Confidence::kModeled};
  if (context.can_lower()) {
    advice.change = Variant{.lowering = {{"--backend", "xnnpack"}}};
    Advice both = advice;
    both.name = "xnnpack_optimize";
    both.what = "run the supported ops with XNNPACK, in a graph with fewer calls";
    both.saved.reset();
    both.change->lowering.push_back({"--optimize", ""});
    return {advice, both};
  }
  advice.how =
      "vitrine lower MODEL.pt2 --backend xnnpack -o model.pte; pass --source MODEL.pt2 to try it";
  return {advice};
}

}  // namespace vitrine::tools
