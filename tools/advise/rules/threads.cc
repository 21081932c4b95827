// The number of threads: small models do not gain from several, and a pool of as many threads as
// processors suffers from other programs.
#include <fmt/format.h>

#include <vector>

#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_threads(const Context& context) {
  std::vector<Advice> all;
  for (size_t threads = 1; threads <= context.processors; threads *= 2) {
    if (threads == context.threads) continue;
    all.push_back(
        {.name = fmt::format("threads_{}", threads),
         .what = fmt::format("run on {} thread{}", threads, threads == 1 ? "" : "s"),
         .why = fmt::format("it runs on {} of {} processors", context.threads, context.processors),
         .change = Variant{.running = {{"--threads", std::to_string(threads)}}}});
  }
  return all;
}

}  // namespace vitrine::tools
