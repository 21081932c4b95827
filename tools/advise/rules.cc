#include "tools/advise/rules.h"

#include <array>

namespace vitrine::tools {
namespace {

constexpr std::array<Rule, 14> kRules = {{{"delegation", advise_delegation},
                                          {"optimize", advise_optimize},
                                          {"borders", advise_borders},
                                          {"attention", advise_attention},
                                          {"int8", advise_int8},
                                          {"weight_quantization", advise_weight_quantization},
                                          {"threads", advise_threads},
                                          {"excluded_ops", advise_excluded_ops},
                                          {"rejected_calls", advise_rejected_calls},
                                          {"float_islands", advise_float_islands},
                                          {"outputs", advise_outputs},
                                          {"weights_cache", advise_weights_cache},
                                          {"dynamic_bounds", advise_dynamic_bounds},
                                          {"file_size", advise_file_size}}};

}  // namespace

std::span<const Rule> all_rules() { return kRules; }

}  // namespace vitrine::tools
