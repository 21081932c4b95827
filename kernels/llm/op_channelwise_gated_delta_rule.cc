#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/util/checks.h"
#include "kernels/util/independent.h"
#include "kernels/util/parallel.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

// Columns of values, which do not depend on one another: a strip of the state stays in the cache
// over all tokens.
constexpr int64_t kStrip = 64;

struct DeltaRule {
  const float* query;  // [keys], as key and decay
  const float* key;
  const float* value;  // [width], as out
  const float* decay;
  float beta;
  float* out;
  int64_t keys;
  int64_t values;  // from a row of the state to the next
  int64_t width;
};

// state, [keys, width], forgets by channel, learns the value that the key should have given, and
// is asked.
void step(const DeltaRule& a, float* state) {
  alignas(64) float missing[kStrip] = {};
  alignas(64) float answer[kStrip] = {};
  std::copy_n(a.value, a.width, missing);
  for (int64_t k = 0; k < a.keys; ++k) {
    float* const row = state + k * a.values;
    const float decay = a.decay[k];
    const float key = a.key[k];
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t v = 0; v < a.width; ++v) {
      row[v] *= decay;
      missing[v] -= row[v] * key;
    }
  }
  for (float& each : missing) each *= a.beta;
  for (int64_t k = 0; k < a.keys; ++k) {
    float* const row = state + k * a.values;
    const float query = a.query[k];
    const float key = a.key[k];
    VITRINE_INDEPENDENT_ITERATIONS
    for (int64_t v = 0; v < a.width; ++v) {
      row[v] += key * missing[v];
      answer[v] += query * row[v];
    }
  }
  std::copy_n(answer, a.width, a.out);
}

[[gnu::noinline]] bool check(KernelContext& context, const Tensor& tensor,
                             std::span<const int32_t> sizes, const char* name) {
  return check_dtype(context, tensor, ScalarType::kFloat, name) &&
         check_sizes(context, tensor, sizes, name) && check_contiguous(context, tensor, name) &&
         check_data(context, {&tensor});
}

// ns * kWorkPerNs of a step, for each element of the state.
constexpr int64_t kWorkAStep = 12;

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
  // From here on states live in final_state_out, which may be initial_state.
  if (initial_state.numel() > 0) {
    std::memmove(final_state_out.mutable_raw_data(), initial_state.raw_data(),
                 initial_state.nbytes());
  }
  if (beta.numel() == 0 || values == 0) return;
  const int64_t strips = (int64_t{values} + kStrip - 1) / kStrip;
  const int64_t lines = int64_t{in[0]} * in[1];
  const int64_t work = work_of({kWorkAStep, tokens, keys, std::min(int64_t{values}, kStrip)});
  parallel_ranges(context, lines * strips, 1, work, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t line = item / strips;
      const int64_t v = item % strips * kStrip;
      float* const strip =
          keys == 0 ? nullptr
                    : final_state_out.unchecked_mutable_data<float>() + line * keys * values + v;
      for (int64_t i = line * tokens; i < (line + 1) * tokens; ++i) {
        step({.query = query.unchecked_data<float>() + i * keys,
              .key = key.unchecked_data<float>() + i * keys,
              .value = value.unchecked_data<float>() + i * values + v,
              .decay = decay.unchecked_data<float>() + i * keys,
              .beta = beta.unchecked_data<float>()[i],
              .out = out.unchecked_mutable_data<float>() + i * values + v,
              .keys = keys,
              .values = values,
              .width = std::min(values - v, kStrip)},
             strip);
      }
    }
  });
}

}  // namespace

VITRINE_KERNEL(channelwise_gated_delta_rule_out, "llama::channelwise_gated_delta_rule.out",
               channelwise_gated_delta_rule_out);

}  // namespace vitrine::llm
