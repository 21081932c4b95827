// Suggests a smaller dtype for a decoder's caches of keys and values. Smaller values save memory
// and reads.
#include <fmt/format.h>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_cache_dtype(const Context& context) {
  constexpr uint64_t kMinBytes = 100'000;
  const ModelFacts& facts = context.facts;
  if (facts.cache_bytes < kMinBytes || facts.cache_values <= 0) return {};
  if (facts.cache_dtype != ScalarType::kFloat) return {};
  const auto bytes = static_cast<double>(facts.cache_bytes);
  const auto advice = [&](const char* name, const char* what, Interval left, const char* how) {
    return Advice{.name = name,
                  .what = what,
                  .why = fmt::format("the caches hold {} in f32", bytes_text(bytes)),
                  .how = how,
                  .gain = Gain::kMemory,
                  .saved = Interval{bytes * (1 - left.high), bytes * (1 - left.low)},
                  .of = bytes,
                  .method = "bytes of the caches in both dtypes",
                  .confidence = Confidence::kModeled};
  };
  // An int8 cache has a scale and a zero point (5 to 16 bytes) for each head of each token.
  const auto values = static_cast<double>(facts.cache_values);
  const Interval int8 = {(1 + 5 / values) / 4, (1 + 16 / values) / 4};
  std::vector<Advice> all = {advice(
      "cache_f16", "caches in f16", {0.5, 0.5},
      "register the buffers with dtype=torch.float16, convert new keys and values, and check "
      "the perplexity (llm_runner --perplexity)")};
  if (int8.high < 1) {
    all.push_back(advice("cache_int8", "caches in int8", int8,
                         "export with ExecuTorch's export_llama --quantize_kv_cache, because "
                         "Vitrine runs its llama::custom_quantized_sdpa, and check the perplexity "
                         "(llm_runner --perplexity)"));
  }
  return all;
}

}  // namespace vitrine::tools
