// Formats statistics with the keys and order of ExecuTorch's runner.
#include <fmt/format.h>

#include "vitrine/text_generator.h"

namespace vitrine {
namespace {

constexpr int64_t kUnitsPerSecond = 1000;

std::string rate(const char* key, int64_t tokens, int64_t duration_ms) {
  if (duration_ms <= 0) return "";
  const double per_second =
      static_cast<double>(tokens) * kUnitsPerSecond / static_cast<double>(duration_ms);
  return fmt::format("\"{}\":{:g},", key, per_second);
}

}  // namespace

std::string GenerationStatistics::json() const {
  std::string text = "{";
  text += rate("prefill_token_per_sec", prompt_tokens, prompt_eval_end_ms - inference_start_ms);
  text += rate("decode_token_per_sec", generated_tokens, inference_end_ms - prompt_eval_end_ms);
  const std::pair<const char*, int64_t> values[] = {
      {"prompt_tokens", prompt_tokens},
      {"generated_tokens", generated_tokens},
      {"model_load_start_ms", model_load_start_ms},
      {"model_load_end_ms", model_load_end_ms},
      {"inference_start_ms", inference_start_ms},
      {"inference_end_ms", inference_end_ms},
      {"prompt_eval_end_ms", prompt_eval_end_ms},
      {"first_token_ms", first_token_ms},
      {"aggregate_sampling_time_ms", aggregate_sampling_time_ms},
      {"SCALING_FACTOR_UNITS_PER_SECOND", kUnitsPerSecond},
  };
  for (const auto& [key, value] : values) text += fmt::format("\"{}\":{},", key, value);
  text.back() = '}';
  return text;
}

}  // namespace vitrine
