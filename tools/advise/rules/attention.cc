// Suggests llama::custom_sdpa for attention instead of products and a softmax. This operator does
// not write the scores to memory, and reads only the filled part of a cache.
#include <fmt/format.h>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_attention(const Context& context) {
  if (!context.can_lower() || context.facts.attentions == 0) return {};
  const RowSum rows = sum_rows(context, [](const inspector::ProfileRow& row) {
    const std::string op = op_of(row);
    return op.find("softmax") != std::string::npos || op == "bmm" || op == "matmul" ||
           op.find("attention") != std::string::npos || op == "index_put" || op == "copy_";
  });
  std::string why = fmt::format("the model has {} attention call{}", context.facts.attentions,
                                context.facts.attentions == 1 ? "" : "s");
  if (!rows.numbers.empty()) why += "; " + rows_text(context, rows);
  const auto advice = [&](const char* name, const char* value, const char* what) {
    return Advice{.name = name,
                  .what = what,
                  .why = why,
                  .rows = rows.numbers,
                  .how = "the runtime needs kernels for llama::custom_sdpa and llama::update_cache",
                  .change = Variant{.lowering = {{"--attention", value}}}};
  };
  return {advice("attention", "auto",
                 "llama::custom_sdpa computes attention where it is known to be faster"),
          advice("custom_sdpa", "custom_sdpa",
                 "llama::custom_sdpa computes all attention, and update_cache writes caches")};
}

}  // namespace vitrine::tools
