#include "kernels/llm/attention.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

void sdpa_with_kv_cache_out(KernelContext& context, const Tensor& query, const Tensor& key,
                            const Tensor& value, Tensor& key_cache, Tensor& value_cache,
                            int64_t start_pos, int64_t seq_len, const Tensor* attn_mask,
                            double /*drpout_p*/, bool is_causal, std::optional<double> scale,
                            Tensor& out) {
  attention_with_cache(
      context,
      {query, key, value, key_cache, value_cache, start_pos, seq_len, attn_mask, is_causal, scale},
      out, attend);
}

}  // namespace

VITRINE_KERNEL(sdpa_with_kv_cache_out, "llama::sdpa_with_kv_cache.out", sdpa_with_kv_cache_out);

}  // namespace vitrine::llm
