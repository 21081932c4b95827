#include "kernels/llm/cache.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

// What it does is done to `cache`: `out` is never written.
void update_cache_out(KernelContext& context, const Tensor& value, Tensor& cache, int64_t start_pos,
                      TensorSlot /*out*/) {
  if (!check_cache(context, value, cache) ||
      !check_positions(context, start_pos, value.size(1), cache.size(1))) {
    return;
  }
  write_cache(value, cache, start_pos);
}

}  // namespace

VITRINE_KERNEL(update_cache_out, "llama::update_cache.out", update_cache_out);

}  // namespace vitrine::llm
