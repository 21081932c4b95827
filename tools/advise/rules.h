// A rule of `vitrine advise` is a function in a file of tools/advise/rules. The function reads a
// Context and returns advice, with a modeled gain if possible. Trials replace modeled gains.
// docs/advice.md says how to write a rule.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tools/advise/advice.h"
#include "tools/advise/context.h"

namespace vitrine::tools {

struct Rule {
  std::string_view name;
  std::vector<Advice> (*advise)(const Context& context);
};

// Returns all rules in the order of their trials, the most promising rule first.
std::span<const Rule> all_rules();

std::vector<Advice> advise_attention(const Context& context);
std::vector<Advice> advise_batch(const Context& context);
std::vector<Advice> advise_borders(const Context& context);
std::vector<Advice> advise_cache_dtype(const Context& context);
std::vector<Advice> advise_context_length(const Context& context);
std::vector<Advice> advise_delegation(const Context& context);
std::vector<Advice> advise_dynamic_bounds(const Context& context);
std::vector<Advice> advise_excluded_ops(const Context& context);
std::vector<Advice> advise_file_size(const Context& context);
std::vector<Advice> advise_first_run(const Context& context);
std::vector<Advice> advise_float_islands(const Context& context);
std::vector<Advice> advise_half_precision(const Context& context);
std::vector<Advice> advise_instruction_sets(const Context& context);
std::vector<Advice> advise_int8(const Context& context);
std::vector<Advice> advise_memory_peak(const Context& context);
std::vector<Advice> advise_optimize(const Context& context);
std::vector<Advice> advise_outputs(const Context& context);
std::vector<Advice> advise_prefill_chunk(const Context& context);
std::vector<Advice> advise_rejected_calls(const Context& context);
std::vector<Advice> advise_repeated_calls(const Context& context);
std::vector<Advice> advise_threads(const Context& context);
std::vector<Advice> advise_weight_quantization(const Context& context);
std::vector<Advice> advise_weights_cache(const Context& context);

}  // namespace vitrine::tools
