// Finds decoders whose context is so long that attention takes more than half of a token's time.
#include <fmt/format.h>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_context_length(const Context& context) {
  if (!context.positions) return {};
  const PositionTimes& times = *context.positions;
  const double dominates = times.dominating_position();
  if (dominates <= 0 || dominates >= static_cast<double>(times.last)) return {};
  // The baseline's run is in the middle of the context.
  const double growth = (times.last_ns - times.first_ns) / 2;
  return {{.name = "context_length",
           .what = fmt::format("attention takes more than half of a token's time after about "
                               "position {:.0f} of {}",
                               dominates, times.last + 1),
           .why = fmt::format("a token takes {} at position 0 and {} at position {}",
                              time_text(times.first_ns), time_text(times.last_ns), times.last),
           .how = "for long contexts, choose attention that reads only the filled part of the "
                  "cache (--attention custom_sdpa), a cache in f16 or int8, or a sliding window in "
                  "the model",
           .saved = Interval{0, std::min(growth, context.wall_ns())},
           .method = "upper limit: the growth of a token's time up to the middle of the context, "
                     "interpolated between two positions",
           .confidence = Confidence::kModeled}};
}

}  // namespace vitrine::tools
