// Computes the sizes of results for several families of operators.
#pragma once

#include "aot/operators/call.h"
#include "runtime/core/sliding_window.h"

namespace vitrine::aot::results {

using Sizes = std::vector<SymInt>;

TensorSpec contiguous_like(const TensorSpec& like, Sizes sizes);
// Returns a spec with the dtype of `input`: channels-last if `input` is, and otherwise contiguous.
TensorSpec image_like(const TensorSpec& input, Sizes sizes);

// Throws an AotError that names the operator and `what` unless the rank is in [min_rank, max_rank].
void need_rank(const Call& call, const TensorSpec& spec, size_t min_rank, size_t max_rank,
               std::string_view what);
// Throws an AotError that names the operator and `what` if both sizes are static and differ.
void need_same(const Call& call, const SymInt& a, const SymInt& b, std::string_view what);
// Returns the window of a convolution or of pooling in one dim, which is padded by `padding` on
// each side. Throws AotError if the total padding overflows.
SlidingWindow make_window(const Call& call, int64_t kernel, int64_t stride, int64_t padding,
                          int64_t dilation);
// Returns the number of windows, which is the size of the result's dim. Throws AotError if the
// number overflows, or if kernel, stride or dilation is less than 1.
SymInt window_steps(const Call& call, const SlidingWindow& window, const SymInt& size,
                    bool ceil_mode = false);
// Returns the size of a dim after a transposed convolution. Throws AotError like window_steps().
SymInt transposed_steps(const Call& call, const SlidingWindow& window, const SymInt& size,
                        int64_t output_padding);

}  // namespace vitrine::aot::results
