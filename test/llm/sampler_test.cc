#include "llm/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace vitrine {
namespace {

std::map<TokenId, int> counts(const SamplerOptions& options, const std::vector<float>& logits,
                              int draws) {
  Sampler sampler(options);
  std::map<TokenId, int> found;
  for (int i = 0; i < draws; ++i) ++found[sampler.sample(logits)];
  return found;
}

TEST(Sampler, ZeroTemperatureReturnsLowestIdWithTheMaxLogit) {
  EXPECT_EQ(Sampler({.temperature = 0}).sample(std::vector<float>{1, 3, 3, 2}), 1);
}

// Frequencies must match softmax within five standard deviations.
TEST(Sampler, SampledFrequenciesMatchSoftmax) {
  const std::vector<float> logits = {std::log(1.0F), std::log(2.0F), std::log(5.0F)};
  constexpr int kDraws = 80'000;
  for (const float temperature : {1.0F, 0.5F}) {
    const auto found = counts({.temperature = temperature, .top_p = 1, .seed = 3}, logits, kDraws);
    double sum = 0;
    for (const double weight : {1.0, 2.0, 5.0}) sum += std::pow(weight, 1 / temperature);
    for (TokenId id = 0; id < 3; ++id) {
      const double p = std::pow(std::exp(static_cast<double>(logits[static_cast<size_t>(id)])),
                                1 / temperature) /
                       sum;
      EXPECT_NEAR(found.at(id), p * kDraws, 5 * std::sqrt(p * (1 - p) * kDraws)) << id;
    }
  }
}

TEST(Sampler, TopPKeepsFewestTokensWithTotalProbabilityAboveP) {
  const std::vector<float> logits = {std::log(0.1F), std::log(0.6F), std::log(0.3F)};
  const auto kept = [&](float top_p) {
    return counts({.temperature = 1, .top_p = top_p, .seed = 5}, logits, 2000).size();
  };
  EXPECT_EQ(kept(0.5F), 1U);
  EXPECT_EQ(kept(0.7F), 2U);
  EXPECT_EQ(kept(0.95F), 3U);
}

// Sorts all tokens to find those that top-p keeps. The sampler must draw only these tokens.
TEST(Sampler, TopPMatchesFullSortForLargeVocabularies) {
  std::mt19937 random(7);
  for (const double spread : {0.0, 0.1, 1.0, 3.0, 10.0}) {
    SCOPED_TRACE(spread);
    std::normal_distribution<float> normal(0, static_cast<float>(spread) + 1e-6F);
    std::vector<float> logits(5003);
    for (float& logit : logits) logit = normal(random);
    std::vector<std::pair<double, TokenId>> sorted;
    double all = 0;
    for (size_t i = 0; i < logits.size(); ++i) {
      sorted.emplace_back(-std::exp(logits[i] / 0.8), static_cast<TokenId>(i));
      all -= sorted.back().first;
    }
    std::ranges::sort(sorted);
    std::map<TokenId, double> kept;
    double sum = 0;
    for (const auto& [negative, id] : sorted) {
      // The sampler rounds its sums, so it may keep a few more tokens. The factor 1 + 1e-4 allows
      // this.
      if (sum > 0.9 * all * (1 + 1e-4)) break;
      sum -= negative;
      kept[id] = -negative;
    }
    constexpr int kDraws = 3000;
    const auto found = counts({.temperature = 0.8F, .top_p = 0.9F, .seed = 11}, logits, kDraws);
    for (const auto& [id, count] : found) EXPECT_TRUE(kept.contains(id)) << id;
    const TokenId best = sorted.front().second;
    const double p = kept.at(best) / sum;
    const auto hits = found.contains(best) ? found.at(best) : 0;
    EXPECT_NEAR(hits, p * kDraws, 5 * std::sqrt(p * (1 - p) * kDraws) + 1);
  }
}

TEST(Sampler, TopKKeepsMostProbableTokens) {
  const std::vector<float> logits = {0, 0.1F, 0.2F, 0.3F};
  const auto found = counts({.temperature = 1, .top_k = 2, .seed = 9}, logits, 2000);
  EXPECT_EQ(found.size(), 2U);
  EXPECT_TRUE(found.contains(2) && found.contains(3));
  EXPECT_EQ(counts({.temperature = 1, .top_k = 100, .seed = 9}, logits, 2000).size(), 4U);
}

TEST(Sampler, SameSeedGivesSameTokens) {
  const std::vector<float> logits(50, 1.0F);
  const auto draw_ids = [&](uint64_t seed) {
    Sampler sampler({.temperature = 1, .seed = seed});
    std::vector<TokenId> ids;
    for (int i = 0; i < 20; ++i) ids.push_back(sampler.sample(logits));
    return ids;
  };
  EXPECT_EQ(draw_ids(1), draw_ids(1));
  EXPECT_NE(draw_ids(1), draw_ids(2));
  EXPECT_EQ(draw_ids(0), draw_ids(0));
}

TEST(Sampler, RejectsNanAndInfiniteLogitsAndBadOptions) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float temperature : {0.0F, 1.0F}) {
    Sampler sampler({.temperature = temperature});
    EXPECT_THROW(sampler.sample(std::vector<float>{1, nan, 2}), GenerationError);
    EXPECT_THROW(sampler.sample(std::vector<float>{1, infinity}), GenerationError);
    EXPECT_THROW(sampler.sample(std::vector<float>{-infinity, -infinity}), GenerationError);
    EXPECT_THROW(sampler.sample(std::vector<float>{}), GenerationError);
    EXPECT_EQ(sampler.sample(std::vector<float>{-infinity, 0}), 1);
  }
  EXPECT_THROW(Sampler({.temperature = -1}), GenerationError);
  EXPECT_THROW(Sampler({.temperature = nan}), GenerationError);
  EXPECT_THROW(Sampler({.top_p = 0}), GenerationError);
  EXPECT_THROW(Sampler({.top_p = 1.5F}), GenerationError);
}

}  // namespace
}  // namespace vitrine
