#include "tools/advise/rules.h"

#include <array>

namespace vitrine::tools {
namespace {

constexpr std::array kRules = {
    Rule{"delegation", advise_delegation},
    Rule{"optimize", advise_optimize},
    Rule{"repeated_calls", advise_repeated_calls},
    Rule{"borders", advise_borders},
    Rule{"attention", advise_attention},
    Rule{"int8", advise_int8},
    Rule{"weight_quantization", advise_weight_quantization},
    Rule{"half_precision", advise_half_precision},
    Rule{"threads", advise_threads},
    Rule{"excluded_ops", advise_excluded_ops},
    Rule{"rejected_calls", advise_rejected_calls},
    Rule{"float_islands", advise_float_islands},
    Rule{"outputs", advise_outputs},
    Rule{"batch", advise_batch},
    Rule{"prefill_chunk", advise_prefill_chunk},
    Rule{"context_length", advise_context_length},
    Rule{"first_run", advise_first_run},
    Rule{"weights_cache", advise_weights_cache},
    Rule{"cache_dtype", advise_cache_dtype},
    Rule{"dynamic_bounds", advise_dynamic_bounds},
    Rule{"memory_peak", advise_memory_peak},
    Rule{"file_size", advise_file_size},
    Rule{"instruction_sets", advise_instruction_sets},
};

}  // namespace

std::span<const Rule> all_rules() { return kRules; }

}  // namespace vitrine::tools
