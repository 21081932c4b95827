// Suggests another number of threads. Small models do not gain from several threads, and one thread
// per processor is slow when other processes run.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "tools/advise/modeled_gain.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_threads(const Context& context) {
  std::vector<Advice> all;
  for (size_t threads = 1; threads <= context.processors; threads *= 2) {
    if (threads == context.threads) continue;
    Advice advice{.name = fmt::format("threads_{}", threads),
                  .what = fmt::format("run on {} thread{}", threads, threads == 1 ? "" : "s"),
                  .why = fmt::format("the model runs on {} of {} processors", context.threads,
                                     context.processors),
                  .change = Variant{.running = {{"--threads", std::to_string(threads)}}}};
    // The gain of fewer threads depends on other processes, so only a trial can measure it.
    if (threads > context.threads) {
      advice.saved = saved_by_threads(context, threads);
      advice.method =
          "upper limit: assumes that delegates and products divide their work perfectly";
      advice.confidence = Confidence::kModeled;
    }
    all.push_back(std::move(advice));
  }
  return all;
}

}  // namespace vitrine::tools
