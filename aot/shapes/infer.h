// Infers a call's results: dtypes, sizes and strides, as PyTorch's operators produce them.
#pragma once

#include <span>

#include "aot/shapes/call.h"

namespace vitrine::aot {

// Whether `infer` supports the operator. For each view ("aten.permute.default") it also supports
// the copy ("aten.permute_copy.default"), whose result is contiguous. Edge targets count as the
// ATen operators that they wrap.
bool can_infer(Target target);
// Whether each element of the result is computed of the elements at its place, operands broadcast.
bool is_elementwise(Target target);
// AotErrors name the operator and the error in its arguments, or say that it is unknown.
Value infer(Target target, const ArgumentList& args, const ArgumentMap& kwargs = {});

// The sizes that operands have together. AotError if they do not fit.
std::vector<SymInt> broadcast_sizes(const Call& call, std::span<const TensorSpec* const> operands);
// Sizes with one -1, of a tensor of so many elements.
std::vector<SymInt> resolved_sizes(const Call& call, std::vector<SymInt> sizes,
                                   const std::vector<SymInt>& elements);
SymInt product_of(const std::vector<SymInt>& sizes);

}  // namespace vitrine::aot
