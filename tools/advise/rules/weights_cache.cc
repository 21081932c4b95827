// Suggests a file with packed weights, so that loading does not have to pack the weights.
#include <fmt/format.h>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_weights_cache(const Context& context) {
  constexpr double kMinInitNs = 2e6;
  constexpr uint64_t kMinPacked = 1'000'000;
  const inspector::RunInfo& run = context.profile.run;
  if (!run.memory || run.memory->packed_weights < kMinPacked) return {};
  const double init = static_cast<double>(run.init_ns.value_or(0));
  if (init < kMinInitNs || init < context.wall_ns()) return {};
  return {{.name = "weights_cache",
           .what = "keep packed weights in a file",
           .why = fmt::format("loading takes {}, as long as {:.0f} runs, and packs {} of weights",
                              time_text(init), init / context.wall_ns(),
                              bytes_text(static_cast<double>(run.memory->packed_weights))),
           .change = Variant{.running = {{"--weights_cache", "model.weights"}}},
           .gain = Gain::kLoading,
           .of = init}};
}

}  // namespace vitrine::tools
