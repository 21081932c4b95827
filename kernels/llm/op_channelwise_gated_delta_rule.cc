#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/util/checks.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

struct DeltaRule {
  const float* query;  // [keys], as key and decay
  const float* key;
  const float* value;  // [values]
  const float* decay;
  float beta;
  float* out;  // [values]
  int64_t keys;
  int64_t values;
};

// state, [keys, values], forgets by channel, learns the value that the key should have given, and
// is asked.
void step(const DeltaRule& a, float* state, float* missing) {
  std::copy_n(a.value, a.values, missing);
  for (int64_t k = 0; k < a.keys; ++k) {
    float* const row = state + k * a.values;
    for (int64_t v = 0; v < a.values; ++v) {
      row[v] *= a.decay[k];
      missing[v] -= row[v] * a.key[k];
    }
  }
  for (int64_t v = 0; v < a.values; ++v) missing[v] *= a.beta;
  std::fill_n(a.out, a.values, 0.0F);
  for (int64_t k = 0; k < a.keys; ++k) {
    float* const row = state + k * a.values;
    for (int64_t v = 0; v < a.values; ++v) {
      row[v] += a.key[k] * missing[v];
      a.out[v] += a.query[k] * row[v];
    }
  }
}

bool check(KernelContext& context, const Tensor& tensor, std::span<const int32_t> sizes,
           const char* name) {
  return check_dtype(context, tensor, ScalarType::kFloat, name) &&
         check_sizes(context, tensor, sizes, name) && check_contiguous(context, tensor, name) &&
         check_data(context, {&tensor});
}

// query, key, decay: [batches, heads, tokens, keys]; value: [batches, heads, tokens, values];
// beta: [batches, heads, tokens]; states: [batches, heads, keys, values].
void channelwise_gated_delta_rule_out(KernelContext& context, const Tensor& query,
                                      const Tensor& key, const Tensor& value, const Tensor& decay,
                                      const Tensor& beta, const Tensor& initial_state, Tensor& out,
                                      Tensor& final_state_out) {
  if (!check_rank(context, query, 4, "query") || !check_rank(context, value, 4, "value")) return;
  const int32_t tokens = query.size(2);
  const int32_t keys = query.size(3);
  const int32_t values = value.size(3);
  const std::array in = {query.size(0), query.size(1), tokens, keys};
  const std::array wide = {query.size(0), query.size(1), tokens, values};
  const std::array state = {query.size(0), query.size(1), keys, values};
  if (!check(context, query, in, "query") || !check(context, key, in, "key") ||
      !check(context, decay, in, "decay") || !check(context, value, wide, "value") ||
      !check(context, beta, std::span(in).first(3), "beta") ||
      !check(context, initial_state, state, "initial_state") || !context.resize(out, wide) ||
      !context.resize(final_state_out, state) || !check(context, out, wide, "out") ||
      !check(context, final_state_out, state, "final_state_out")) {
    return;
  }
  const auto missing = context.allocate_temp_array<float>(static_cast<size_t>(values) + 1);
  if (missing.empty()) return;
  // From here on states live in final_state_out, which may be initial_state.
  if (initial_state.numel() > 0) {
    std::memmove(final_state_out.mutable_raw_data(), initial_state.raw_data(),
                 initial_state.nbytes());
  }
  if (beta.numel() == 0 || values == 0) return;
  const int64_t lines = int64_t{in[0]} * in[1];
  for (int64_t line = 0; line < lines; ++line) {
    float* const line_state =
        final_state_out.unchecked_mutable_data<float>() + line * keys * values;
    for (int64_t i = line * tokens; i < (line + 1) * tokens; ++i) {
      step({query.unchecked_data<float>() + i * keys, key.unchecked_data<float>() + i * keys,
            value.unchecked_data<float>() + i * values, decay.unchecked_data<float>() + i * keys,
            beta.unchecked_data<float>()[i], out.unchecked_mutable_data<float>() + i * values, keys,
            values},
           line_state, missing.data());
    }
  }
}

}  // namespace

VITRINE_KERNEL(channelwise_gated_delta_rule_out, "llama::channelwise_gated_delta_rule.out",
               channelwise_gated_delta_rule_out);

}  // namespace vitrine::llm
