#include <array>

#include "kernels/llm/cache.h"
#include "kernels/util/checks.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

void update_cache_out(KernelContext& context, const Tensor& value, Tensor& cache, int64_t start_pos,
                      TensorSlot /*out*/) {
  if (!check_cache(context, value, cache) ||
      !check_positions(context, start_pos, value.size(1), cache.size(1))) {
    return;
  }
  write_cache(value, cache, start_pos);
}

// Writes each token to position indices[batch, token] of `cache`. If a position occurs more than
// once, the last token wins.
void update_cache_with_indices_out(KernelContext& context, const Tensor& value, Tensor& cache,
                                   int64_t /*start_pos*/, const Tensor& indices,
                                   TensorSlot /*out*/) {
  if (!check_cache(context, value, cache)) return;
  const std::array sizes = {value.size(0), value.size(1)};
  if (!check_dtype(context, indices, ScalarType::kLong, "indices") ||
      !check_sizes(context, indices, sizes, "indices") ||
      !check_contiguous(context, indices, "indices") || !check_data(context, {&indices}) ||
      !check_no_overlap(context, cache, {&indices})) {
    return;
  }
  const auto* const positions = indices.unchecked_data<int64_t>();
  for (int64_t i = 0; i < indices.numel(); ++i) {
    if (positions[i] >= 0 && positions[i] < cache.size(1)) continue;
    return context.fail(ErrorCode::kInvalidArgument,
                        "index %lld is out of range for a cache of %d positions",
                        static_cast<long long>(positions[i]), cache.size(1));
  }
  for (int64_t i = 0; i < indices.numel(); ++i) {
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): an index exists, so there are tokens
    write_token(value, cache, i / value.size(1), i % value.size(1), positions[i]);
  }
}

}  // namespace

VITRINE_KERNEL(update_cache_out, "llama::update_cache.out", update_cache_out);
VITRINE_KERNEL(update_cache_with_indices_out, "llama::update_cache_with_indices.out",
               update_cache_with_indices_out);

}  // namespace vitrine::llm
