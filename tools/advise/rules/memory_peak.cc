// Finds the largest part of the loaded method's memory, and suggests an option that makes this part
// smaller.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {
namespace {

struct MemoryPart {
  const char* name;
  const char* what;
  uint64_t bytes;
  std::string how;
};

bool has_wide_bounds(const ModelFacts& facts) {
  return std::ranges::any_of(facts.dynamic_sizes, [](const ModelFacts::DynamicSize& size) {
    return size.max == 0 || size.max > size.used || size.max > size.min;
  });
}

}  // namespace

std::vector<Advice> advise_memory_peak(const Context& context) {
  constexpr double kMinShare = 0.5;
  constexpr double kMinBytes = 1e6;
  if (!context.profile.run.memory) return {};
  const inspector::MemoryInfo& memory = *context.profile.run.memory;
  const std::string plan_how =
      has_wide_bounds(context.facts)
          ? "plan memory for smaller dynamic sizes with vitrine lower --dynamic NAME=MIN:MAX; or "
            "use --optimize, which makes a smaller memory plan"
          : "vitrine lower --optimize, which makes a smaller memory plan; or smaller inputs or "
            "batches";
  const std::array<MemoryPart, 4> parts = {
      {{"memory_plan", "activations in the memory plan", memory.planned, plan_how},
       {"memory_workspace", "workspaces of delegates", memory.workspace,
        "vitrine run --backend_option workspace_sharing_mode=1 or 2, so that delegates of a "
        "program "
        "or of the process share workspaces (docs/xnnpack.md)"},
       {"memory_packed_weights", "packed weights", memory.packed_weights,
        "vitrine run --weights_cache FILE, which maps the packed weights from a file; or "
        "quantize "
        "the "
        "weights (vitrine lower --quantize)"},
       {"memory_constants", "copies of constants", memory.constants,
        "quantize the weights (vitrine lower --quantize)"}}};
  double total = static_cast<double>(memory.metadata);
  for (const MemoryPart& part : parts) total += static_cast<double>(part.bytes);
  const MemoryPart& largest = *std::ranges::max_element(parts, {}, &MemoryPart::bytes);
  const auto bytes = static_cast<double>(largest.bytes);
  if (total < kMinBytes || bytes < kMinShare * total) return {};
  return {{.name = largest.name,
           .what = fmt::format("most memory is used by {}", largest.what),
           .why = fmt::format("{} of {}: plan {}, workspaces {}, packed weights {}, constants {}",
                              bytes_text(bytes), bytes_text(total),
                              bytes_text(static_cast<double>(memory.planned)),
                              bytes_text(static_cast<double>(memory.workspace)),
                              bytes_text(static_cast<double>(memory.packed_weights)),
                              bytes_text(static_cast<double>(memory.constants))),
           .how = largest.how,
           .method = "shares of the loaded method's memory; how much the change saves is unknown"}};
}

}  // namespace vitrine::tools
