// Sizes of results, as functions of several families compute them.
#pragma once

#include "aot/shapes/call.h"

namespace vitrine::aot::results {

using Sizes = std::vector<SymInt>;

// A contiguous tensor of the other's dtype.
TensorSpec contiguous_like(const TensorSpec& like, Sizes sizes);
// The same, with channels last if the input has them last.
TensorSpec image_like(const TensorSpec& input, Sizes sizes);

// AotErrors name the operator and say what is wrong.
void need_rank(const Call& call, const TensorSpec& spec, size_t least, size_t most,
               std::string_view what);
void need_same(const Call& call, const SymInt& a, const SymInt& b, std::string_view what);
// A part of a window. AotError if it is so large that products of such could not be computed.
int64_t bounded(const Call& call, int64_t value);
// The size of a dim after a window has gone over it.
SymInt window(const Call& call, const SymInt& size, int64_t kernel, int64_t stride, int64_t padding,
              int64_t dilation, bool ceil_mode = false);

}  // namespace vitrine::aot::results
