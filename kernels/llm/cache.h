// Caches of keys and values, [batches, length, heads, width], and what is written to them,
// [batches, tokens, heads, width].
#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::llm {

// Fails the context and gives false unless `value` may be written to `cache`: dtypes, batches,
// heads and widths are alike and both tensors lie in the default dim order.
[[nodiscard]] bool check_cache(KernelContext& context, const Tensor& value, const Tensor& cache);

// The same unless positions start_pos .. start_pos + tokens are of a cache of `length`.
[[nodiscard]] bool check_positions(KernelContext& context, int64_t start_pos, int64_t tokens,
                                   int64_t length);

// Puts all tokens of `value` into positions from `start_pos` on; all is checked.
void write_cache(const Tensor& value, Tensor& cache, int64_t start_pos);

// cache[batch, position] = value[batch, token]; checked likewise.
void write_token(const Tensor& value, Tensor& cache, int64_t batch, int64_t token,
                 int64_t position);

}  // namespace vitrine::llm
