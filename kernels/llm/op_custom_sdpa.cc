#include "kernels/llm/attention.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

void custom_sdpa_out(KernelContext& context, const Tensor& query, const Tensor& key,
                     const Tensor& value, int64_t start_pos, const Tensor* attn_mask,
                     double /*drpout_p*/, bool is_causal, std::optional<double> scale,
                     Tensor& out) {
  attention(context, {query, key, value, start_pos, attn_mask, is_causal, scale}, out, attend);
}

}  // namespace

VITRINE_KERNEL(custom_sdpa_out, "llama::custom_sdpa.out", custom_sdpa_out);

}  // namespace vitrine::llm
