// Suggests smaller bounds of dynamic sizes. Memory is planned for the bounds.
#include <fmt/format.h>

#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_dynamic_bounds(const Context& context) {
  constexpr int64_t kMinFactor = 2;
  std::vector<Advice> all;
  if (!context.can_lower() || !context.has_inputs) return all;
  for (const ModelFacts::DynamicSize& size : context.facts.dynamic_sizes) {
    if (size.used <= 0 || (size.max != 0 && size.max < kMinFactor * size.used)) continue;
    const bool is_unbounded = size.max == 0;
    all.push_back(
        {.name = "bound_" + size.name,
         .what = fmt::format("plan memory for {} up to {}", size.name, size.used),
         .why = is_unbounded
                    ? fmt::format("{} is {} in these inputs, and the export sets no maximum",
                                  size.name, size.used)
                    : fmt::format("{} is {} in these inputs, and memory is planned for {}",
                                  size.name, size.used, size.max),
         .how = "raise the maximum if other inputs are larger; the program refuses inputs above it",
         .change =
             Variant{.lowering = {is_unbounded ? Setting{"--max-size",
                                                         fmt::format("{}={}", size.name, size.used)}
                                               : Setting{"--dynamic",
                                                         fmt::format("{}={}:{}", size.name,
                                                                     std::min(size.min, size.used),
                                                                     size.used)}}},
         .gain = Gain::kMemory});
  }
  return all;
}

}  // namespace vitrine::tools
