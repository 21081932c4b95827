// Scaled dot-product attention of queries to the keys and values of a cache: what the llama::
// operators have in common.
//
// out(t, h) = sum over keys n of softmax(scale * q(t, h) . k(n, h / group) + mask(t, n)) *
// v(n, h / group), where `group` neighbouring query heads share a head of keys and values. Scores,
// softmax and sums are in float. A row that may attend to nothing (a mask of minus infinity
// throughout) becomes NaN.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::llm {

// Vectors of a tensor of rank 4, one for each batch, token and head. Numbers count elements.
struct Rows {
  const Tensor* tensor;
  int64_t batch_stride;
  int64_t token_stride;
  int64_t head_stride;
  int64_t width;
  // For int8 vectors: real = (element - zero point) * scale, of vector number offset / width. Null
  // for floating ones.
  const float* scales = nullptr;
  const int8_t* zero_points = nullptr;

  int64_t offset(int64_t batch, int64_t token, int64_t head) const {
    return batch * batch_stride + token * token_stride + head * head_stride;
  }
};

// Checked: whatever rows the numbers name lie in memory. With a mask there may be no keys.
struct Attention {
  int64_t batches;
  int64_t tokens;  // queries of a batch and head
  int64_t keys;    // that queries attend to: the first of the cache
  int64_t query_heads;
  int64_t key_heads;  // divides query_heads
  int64_t width;
  Rows query;  // Float, Half or BFloat16; or Char, with scales and zero points
  Rows key;    // of the same dtype
  Rows value;
  Tensor* out;        // of query's sizes and layout, and its dtype; for Char: Float
  const float* mask;  // or null; row t begins at mask + t * keys
  bool causal;        // without a mask: query t attends to keys 0 .. start + t
  int64_t start;
  float scale;

  int64_t group() const { return query_heads / key_heads; }
  // How many keys query `token` attends to.
  int64_t keys_of(int64_t token) const { return causal ? std::min(keys, start + token + 1) : keys; }
};

// How attention is computed; what is checked already is not checked again.
using Attend = void (*)(KernelContext& context, const Attention& arguments);

// One row after the other, in plain loops.
void attend(KernelContext& context, const Attention& arguments);

// Arguments as programs give them.
struct AttentionCall {
  const Tensor& query;  // [batches, tokens, query heads, width]
  const Tensor& key;    // [batches, length, key heads, width]
  const Tensor& value;  // as key
  int64_t start_pos;
  const Tensor* attn_mask;  // Float [tokens, length]; then all keys count, and start_pos does not
  bool is_causal;
  std::optional<double> scale;  // nothing: 1 / sqrt(width)
  // For query, key, value; all or none.
  const Tensor* zero_points[3] = {};
  const Tensor* scales[3] = {};
  bool heads_before_tokens = false;  // all tensors are [batches, heads, tokens, width]
};

// Nothing (and a failed context, nothing written) if they do not fit each other; resizes `out`.
std::optional<Attention> make_attention(KernelContext& context, const AttentionCall& call,
                                        Tensor& out);

// make_attention, then `compute` if there is anything to do.
void attention(KernelContext& context, const AttentionCall& call, Tensor& out, Attend compute);

// llama::sdpa_with_kv_cache.out: writes key and value to the caches first. On an error nothing is
// written.
struct CachedAttentionCall {
  const Tensor& query;
  const Tensor& key;
  const Tensor& value;
  Tensor& key_cache;
  Tensor& value_cache;
  int64_t start_pos;
  int64_t seq_len;
  const Tensor* attn_mask;
  bool is_causal;
  std::optional<double> scale;
};
void attention_with_cache(KernelContext& context, const CachedAttentionCall& call, Tensor& out,
                          Attend compute);

// --- The operators, over any way to compute attention ---

template <Attend compute>
void custom_sdpa_out(KernelContext& context, const Tensor& query, const Tensor& key,
                     const Tensor& value, int64_t start_pos, const Tensor* attn_mask,
                     double /*drpout_p*/, bool is_causal, std::optional<double> scale,
                     Tensor& out) {
  attention(context, {query, key, value, start_pos, attn_mask, is_causal, scale}, out, compute);
}

template <Attend compute>
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
            out, compute);
}

template <Attend compute>
void sdpa_with_kv_cache_out(KernelContext& context, const Tensor& query, const Tensor& key,
                            const Tensor& value, Tensor& key_cache, Tensor& value_cache,
                            int64_t start_pos, int64_t seq_len, const Tensor* attn_mask,
                            double /*drpout_p*/, bool is_causal, std::optional<double> scale,
                            Tensor& out) {
  attention_with_cache(
      context,
      {query, key, value, key_cache, value_cache, start_pos, seq_len, attn_mask, is_causal, scale},
      out, compute);
}

}  // namespace vitrine::llm
