#include <algorithm>
#include <utility>
#include <vector>

#include "bench/kernels/kernel_cases.h"

namespace vitrine::bench {
namespace {

// A decode step (or a prompt of `tokens`) with 12 heads of queries on 4 of keys, 64 wide, at the
// end of `keys` positions. Twelve layers stand in one call as a batch, so that caches come from
// memory as they do between the layers of a model. Bytes are those of the cache that must be read
// once.
void add_attention(ScalarType dtype, int32_t tokens, int32_t keys) {
  constexpr int32_t kLayers = 12;
  const bool quantized = dtype == ScalarType::kChar;
  const std::string what = std::string(scalar_type_name(dtype)) + " " + std::to_string(tokens) +
                           " at " + std::to_string(keys);
  add(quantized ? "llama::custom_quantized_sdpa.out" : "llama::custom_sdpa.out", what,
      [=](Setup& s) {
        const auto numbers = [&](int32_t count, int32_t heads) -> Tensor& {
          const std::vector<int32_t> sizes = {kLayers, count, heads, 64};
          return quantized ? s.call.filled(dtype, sizes, 256) : s.call.floating(dtype, sizes);
        };
        Tensor& key = numbers(2048, 4);
        std::vector<EValue> arguments{EValue(&numbers(tokens, 12)),
                                      EValue(&key),
                                      EValue(&numbers(2048, 4)),
                                      EValue(int64_t{keys - tokens}),
                                      EValue(),
                                      EValue(0.0),
                                      EValue(true),
                                      EValue()};
        if (quantized) {
          for (const auto& [count, heads] : {std::pair(tokens, 12), {2048, 4}, {2048, 4}}) {
            const std::vector<int32_t> sizes = {kLayers, count, heads, 1};
            arguments.emplace_back(&s.call.filled(dtype, sizes, 20));
            Tensor& scales = s.call.floats(sizes);
            std::fill_n(scales.mutable_data<float>(), scales.numel(), 0.01F);
            arguments.emplace_back(&scales);
          }
          arguments.emplace_back(false);
        }
        arguments.emplace_back(quantized ? &s.call.floats({kLayers, tokens, 12, 64})
                                         : &numbers(tokens, 12));
        s.call.set_arguments(arguments);
        s.bytes = 2.0 * kLayers * keys * 4 * 64 * static_cast<double>(key.element_size());
        s.operations = 4.0 * kLayers * tokens * (keys - 0.5 * (tokens - 1)) * 12 * 64;
      });
}

}  // namespace

void add_attentions() {
  for (const ScalarType dtype :
       {ScalarType::kFloat, ScalarType::kHalf, ScalarType::kBFloat16, ScalarType::kChar}) {
    for (const int32_t keys : {512, 1900}) add_attention(dtype, 1, keys);
    add_attention(dtype, 128, 128);
  }
}

}  // namespace vitrine::bench
