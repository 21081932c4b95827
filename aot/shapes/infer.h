// Infers dtypes, sizes and strides of a call's results, as PyTorch's operators produce them.
#pragma once

#include <span>

#include "aot/shapes/call.h"

namespace vitrine::aot {

// True if infer() supports the operator. If it supports a view ("aten.permute.default"), it also
// supports the copy ("aten.permute_copy.default"), whose result is contiguous. Edge targets count
// as the ATen operators that they wrap.
bool can_infer(Target target);
// True if each element of the result depends only on the elements at the same index of the
// broadcast operands.
bool is_elementwise(Target target);
// Throws an AotError that names the operator if its arguments are invalid or it is not supported.
Value infer(Target target, const ArgumentList& args, const ArgumentMap& kwargs = {});

// The common sizes of broadcast operands. Throws AotError if the operands cannot be broadcast.
std::vector<SymInt> broadcast_sizes(const Call& call, std::span<const TensorSpec* const> operands);
// Replaces a size of -1 with the size that makes the product of `sizes` that of `elements`. Throws
// AotError if the products cannot be equal.
std::vector<SymInt> resolved_sizes(const Call& call, std::vector<SymInt> sizes,
                                   const std::vector<SymInt>& elements);
SymInt product_of(const std::vector<SymInt>& sizes);

}  // namespace vitrine::aot
