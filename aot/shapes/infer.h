// What a call results in: dtypes, sizes and strides, as PyTorch's own operators give them.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "aot/shapes/call.h"

namespace vitrine::aot {

// Whether `infer` knows the operator. Of each view ("aten.permute.default") it knows the copy
// ("aten.permute_copy.default") too, whose result is contiguous. Edge targets count as the ATen
// operators that they wrap.
bool can_infer(Target target);
// AotErrors name the operator and what is wrong with its arguments, or that it is not known.
Value infer(Target target, const ArgumentList& args, const ArgumentMap& kwargs = {});

// The sizes that operands have together. AotError if they do not fit.
std::vector<SymInt> broadcast_sizes(const Call& call, std::span<const TensorSpec* const> operands);
// Sizes with one -1, of a tensor of so many elements.
std::vector<SymInt> resolved_sizes(const Call& call, std::vector<SymInt> sizes,
                                   const std::vector<SymInt>& elements);
SymInt product_of(const std::vector<SymInt>& sizes);

}  // namespace vitrine::aot
