// Sizes of results, as functions of several families compute them.
#pragma once

#include "aot/shapes/call.h"
#include "runtime/core/sliding_window.h"

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
// One dim of a convolution or pool, padded by `padding` on each side. AotErrors here and below if
// sizes overflow or a window is not positive.
SlidingWindow make_window(const Call& call, int64_t kernel, int64_t stride, int64_t padding,
                          int64_t dilation);
// The size of a dim after a window has passed over it.
SymInt window_steps(const Call& call, const SlidingWindow& window, const SymInt& size,
                    bool ceil_mode = false);
// The size that a transposed convolution makes of a dim.
SymInt transposed_steps(const Call& call, const SlidingWindow& window, const SymInt& size,
                        int64_t output_padding);

}  // namespace vitrine::aot::results
