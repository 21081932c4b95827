// Infers the dtypes, sizes and strides that the results of a call have in PyTorch.
#pragma once

#include <span>

#include "aot/operators/call.h"

namespace vitrine::aot {

// True if infer() supports the operator. If it supports a view ("aten.permute.default"), it also
// supports the copy ("aten.permute_copy.default"), whose result is contiguous. An Edge operator is
// supported if the ATen operator that it wraps is supported.
bool can_infer(Target target);
// True if each element of a call's result depends only on the elements of the broadcast operands at
// the same index.
bool is_elementwise(Target target);
// Infers the results of a call. Throws an AotError that names the operator if it is not supported
// or its arguments are invalid.
Value infer(Target target, const ArgumentList& args, const ArgumentMap& kwargs = {});

// Returns the common sizes of broadcast operands. Throws AotError if the operands cannot be
// broadcast.
std::vector<SymInt> broadcast_sizes(const Call& call, std::span<const TensorSpec* const> operands);
// Returns `sizes`, with -1 replaced by the size that makes the product equal to the product of
// `elements`. Throws AotError if the products cannot be equal, or if the new size is ambiguous.
std::vector<SymInt> resolved_sizes(const Call& call, std::vector<SymInt> sizes,
                                   const std::vector<SymInt>& elements);
SymInt product_of(const std::vector<SymInt>& sizes);

}  // namespace vitrine::aot
