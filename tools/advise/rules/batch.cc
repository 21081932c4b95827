// Suggests a size for a dynamic batch. A run of several samples reads the weights, and enters each
// delegate, only once.
#include <fmt/format.h>

#include "tools/advise/rules.h"
#include "tools/advise/size_times.h"

namespace vitrine::tools {

std::vector<Advice> advise_batch(const Context& context) {
  if (context.batch_times.size() < 2) return {};
  // All inputs have the same batch size.
  int64_t used = 0;
  for (const ModelFacts::DynamicSize& size : context.facts.dynamic_sizes) {
    if (size.dim == 0) used = size.used;
  }
  const auto reference = std::ranges::find(context.batch_times, used, &SizeTime::size);
  const SizeTime& best = best_size(context.batch_times);
  if (reference == context.batch_times.end() || best.size == used) return {};
  const Interval ratio = item_ratio(best, *reference);
  if (ratio.high >= 1) return {};
  const double wall = context.wall_ns();
  return {{.name = fmt::format("batch_{}", best.size),
           .what = fmt::format("runs of {} sample{} instead of {}", best.size,
                               best.size == 1 ? "" : "s", used),
           .why = "time per sample, by batch size: " + item_times_text(context.batch_times),
           .how = fmt::format("pass inputs whose first size is {}", best.size),
           .saved = Interval{wall * (1 - ratio.high), wall * (1 - ratio.low)},
           .method = "runs with random inputs of each batch size; the time of a run is divided by "
                     "the batch size",
           .confidence = Confidence::kModeled}};
}

}  // namespace vitrine::tools
