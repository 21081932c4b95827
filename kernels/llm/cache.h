// Writes to the caches of attention keys and values. A cache is [batches, length, heads, width].
// The tensor to write is [batches, tokens, heads, width].
#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::llm {

// Fails unless dtypes, batches, heads and widths are equal and both tensors are row-major.
[[nodiscard]] bool check_cache(KernelContext& context, const Tensor& value, const Tensor& cache);

// Fails unless a cache of `length` positions has the positions [start_pos, start_pos + tokens).
[[nodiscard]] bool check_positions(KernelContext& context, int64_t start_pos, int64_t tokens,
                                   int64_t length);

// Writes the tokens of `value` to positions start_pos, start_pos + 1, ... The caller has checked
// the arguments.
void write_cache(const Tensor& value, Tensor& cache, int64_t start_pos);

// Sets cache[batch, position] = value[batch, token]. The caller has checked the arguments.
void write_token(const Tensor& value, Tensor& cache, int64_t batch, int64_t token,
                 int64_t position);

}  // namespace vitrine::llm
