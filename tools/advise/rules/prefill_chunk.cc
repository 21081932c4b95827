// Suggests the number of prompt tokens per run. A run reads the weights only once.
#include <fmt/format.h>

#include "tools/advise/rules.h"
#include "tools/advise/size_times.h"

namespace vitrine::tools {

std::vector<Advice> advise_prefill_chunk(const Context& context) {
  if (context.chunk_times.size() < 2 || context.chunk_times.front().size != 1) return {};
  const SizeTime& best = best_size(context.chunk_times);
  if (best.size == 1) return {};
  const Interval ratio = item_ratio(best, context.chunk_times.front());
  if (ratio.high >= 1) return {};
  const double wall = context.wall_ns();
  return {
      {.name = fmt::format("prefill_{}", best.size),
       .what = fmt::format("feed the prompt in runs of {} tokens instead of one by one", best.size),
       .why = "time per token, by tokens per run: " + item_times_text(context.chunk_times),
       .how = fmt::format("pass up to {} tokens of the prompt in one run, as llm_runner does",
                          best.size),
       .gain = Gain::kPrompt,
       .saved = Interval{wall * (1 - ratio.high), wall * (1 - ratio.low)},
       .of = wall,
       .method = "runs that start at position 0, for each number of tokens that was tried",
       .confidence = Confidence::kModeled}};
}

}  // namespace vitrine::tools
