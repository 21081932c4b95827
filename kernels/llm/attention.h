// Scaled dot-product attention of queries to the keys and values of a cache, for the llama::
// operators.
//
// out(t, h) = sum over keys n of softmax(scale * q(t, h) . k(n, h / group) + mask(t, n)) * v(n, h /
// group), where `group` consecutive query heads share a head of keys and values. Scores, softmax
// and sums are in float. An output row is NaN if its mask is minus infinity for all keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::llm {

// The vectors of a tensor of rank 4: one for each batch, token and head. Strides are in elements.
struct Rows {
  const Tensor* tensor;
  int64_t batch_stride;
  int64_t token_stride;
  int64_t head_stride;
  int64_t width;
  // The parameters of int8 vectors: real = (element - zero point) * scale. Parameter i belongs to
  // the vector at offset i * width. Null for floating-point vectors.
  const float* scales = nullptr;
  const int8_t* zero_points = nullptr;

  int64_t offset(int64_t batch, int64_t token, int64_t head) const {
    return batch * batch_stride + token * token_stride + head * head_stride;
  }
};

// The checked arguments of attention. All rows are inside the tensors' memory. `keys` is 0 only
// with a mask.
struct Attention {
  int64_t batches;
  int64_t tokens;  // queries for each batch and head
  int64_t keys;    // queries attend only to the first `keys` keys of the cache
  int64_t query_heads;
  int64_t key_heads;  // divides query_heads
  int64_t width;
  Rows query;  // Float, Half or BFloat16; or Char, with scales and zero points
  Rows key;    // key and value have the dtype of query
  Rows value;
  Tensor* out;        // has query's sizes and layout; Float for Char, otherwise query's dtype
  const float* mask;  // may be null; row t begins at mask + t * keys
  bool causal;        // only without a mask: query t attends to keys 0 .. start + t
  int64_t start;
  float scale;

  int64_t group() const { return query_heads / key_heads; }
  // Number of keys to which query `token` attends.
  int64_t keys_of(int64_t token) const { return causal ? std::min(keys, start + token + 1) : keys; }
};

// A function that computes attention. The arguments have been checked.
using Attend = void (*)(KernelContext& context, const Attention& arguments);

void attend(KernelContext& context, const Attention& arguments);

// The unchecked arguments of an operator.
struct AttentionCall {
  const Tensor& query;  // [batches, tokens, query heads, width]
  const Tensor& key;    // [batches, length, key heads, width]
  const Tensor& value;  // same shape as key
  int64_t start_pos;
  const Tensor* attn_mask;  // null or Float [tokens, length]; replaces the limit by start_pos
  bool is_causal;
  std::optional<double> scale;  // default: 1 / sqrt(width)
  // Quantization parameters of query, key and value: all or none.
  const Tensor* zero_points[3] = {};
  const Tensor* scales[3] = {};
  bool heads_before_tokens = false;  // all tensors are [batches, heads, tokens, width]
};

// Checks the arguments and resizes `out`. On an error, fails the context and returns nullopt.
std::optional<Attention> make_attention(KernelContext& context, const AttentionCall& call,
                                        Tensor& out);

void attention(KernelContext& context, const AttentionCall& call, Tensor& out, Attend compute);

// The arguments of llama::sdpa_with_kv_cache.out, which writes key and value to the caches and then
// computes attention. An invalid argument leaves the caches unchanged.
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
