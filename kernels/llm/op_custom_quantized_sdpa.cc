#include "kernels/llm/attention.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

void custom_quantized_sdpa_out(KernelContext& context, const Tensor& query, const Tensor& key,
                               const Tensor& value, int64_t start_pos, const Tensor* attn_mask,
                               double /*drpout_p*/, bool is_causal, std::optional<double> scale,
                               const Tensor* q_zero_points, const Tensor* q_scales,
                               const Tensor* k_zero_points, const Tensor* k_scales,
                               const Tensor* v_zero_points, const Tensor* v_scales,
                               bool is_seq_at_dim_2, Tensor& out) {
  attention(context,
            {query,
             key,
             value,
             start_pos,
             attn_mask,
             is_causal,
             scale,
             {q_zero_points, k_zero_points, v_zero_points},
             {q_scales, k_scales, v_scales},
             is_seq_at_dim_2},
            out, attend);
}

}  // namespace

VITRINE_KERNEL(custom_quantized_sdpa_out, "llama::custom_quantized_sdpa.out",
               custom_quantized_sdpa_out);

}  // namespace vitrine::llm
