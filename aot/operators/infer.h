// Infers the dtypes, sizes and strides that the results of a call have in PyTorch.
#pragma once

#include <span>

#include "aot/operators/call.h"

namespace vitrine::aot {

// True if infer() supports the operator. Edge operators count as the ATen operators that they wrap,
// and "_copy" operators count as their views.
bool can_infer(Target target);
// True if each element of the result depends only on the elements of the broadcast operands at the
// same index.
bool is_elementwise(Target target);
// Infers the results of a call. Throws an AotError that names the operator if the call is not
// supported or not valid.
Value infer(Target target, const ArgumentList& args, const ArgumentMap& kwargs = {});

// Throws AotError if the operands cannot be broadcast.
std::vector<SymInt> broadcast_sizes(const Call& call, std::span<const TensorSpec* const> operands);
// Replaces -1 in `sizes` with the size that makes the product equal to that of `elements`. Throws
// AotError if this size does not exist or is ambiguous.
std::vector<SymInt> resolved_sizes(const Call& call, std::vector<SymInt> sizes,
                                   const std::vector<SymInt>& elements);
SymInt product_of(const std::vector<SymInt>& sizes);

}  // namespace vitrine::aot
