// Weights quantised here: --quantize.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aot/emit/emit.h"
#include "aot/passes/quantise.h"

namespace vitrine::aot {

// "8da4w:32,embedding:4:32": items with commas, each once.
//   8da4w[:GROUP][:RULE]            linear layers; the group is 128 unless given
//   embedding:BITS[:GROUP][:RULE]   2, 4 or 8 bits; the group is 0 unless given
// A group of 0 is the whole row. RULE is hqq (the default) or affine. Throws AotError.
QuantiseOptions parse_quantisation(std::string_view text);

// Quantises the weights of all methods. Returns which linear layers stay as they are, and why.
// AotError, besides those of `quantise`, if there is nothing that an item applies to.
std::vector<std::string> apply(const QuantiseOptions& options, Methods& methods);

}  // namespace vitrine::aot
