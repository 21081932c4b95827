#include "llm/token_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "vitrine/text_generator.h"

namespace vitrine {

ScoredLogits::ScoredLogits(std::span<const float> from) : logits(from) {
  double max = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < logits.size(); ++i) {
    const double logit = logits[i];
    if (std::isnan(logit) || logit == std::numeric_limits<double>::infinity()) {
      throw GenerationError(
          fmt::format("the logit of id {} is {}", i, std::isnan(logit) ? "NaN" : "infinite"));
    }
    if (logit > max) {
      max = logit;
      top = static_cast<TokenId>(i);
    }
  }
  if (std::isinf(max)) throw GenerationError("all logits are minus infinity");
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - max);
  log_sum = max + std::log(sum);
}

double kl_divergence(const ScoredLogits& a, const ScoredLogits& b) {
  double kl = 0;
  for (size_t i = 0; i < a.logits.size(); ++i) {
    const double log_a = a.logits[i] - a.log_sum;
    const double probability = std::exp(log_a);
    if (probability > 0) kl += probability * (log_a - (b.logits[i] - b.log_sum));
  }
  return std::max(kl, 0.0);  // rounding can make the sum negative
}

}  // namespace vitrine
