// Tests scores of texts on decoders with known probabilities.
#include "llm/text_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "llm/block_interval.h"
#include "test/support/results.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

// A decoder with a vocabulary of two ids. After n tokens of a window, id 1 is n * `factor` times as
// probable as id 0. If `all` is true, the decoder returns logits for every token of a call.
class CountingDecoder final : public DecoderModel {
 public:
  CountingDecoder(int64_t context, bool all, double factor = 1)
      : info_{.max_context = context,
              .max_tokens_per_call = all ? 3 : context,
              .parallel_prefill = true,
              .returns_all_logits = all,
              .vocabulary = 2},
        factor_(factor) {}

  const DecoderInfo& info() const override { return info_; }
  std::span<const float> feed(std::span<const TokenId> tokens, int64_t position) override {
    calls.push_back(tokens.size());
    position_ = position;
    EXPECT_LE(position + static_cast<int64_t>(tokens.size()), info_.max_context);
    return logits_after(tokens.size() - 1);
  }
  std::span<const float> logits_after(size_t index) override {
    const auto seen = static_cast<double>(position_ + static_cast<int64_t>(index) + 1);
    logits_ = {5, static_cast<float>(5 + std::log(seen * factor_))};
    if (seen == nan_after) logits_[0] = std::numeric_limits<float>::quiet_NaN();
    return logits_;
  }

  DecoderInfo info_;
  std::vector<size_t> calls;
  double nan_after = 0;

 private:
  double factor_;
  int64_t position_ = 0;
  std::vector<float> logits_;
};

// Returns -ln(p), where p = n / (1 + n) is the probability of id 1 after n tokens.
double nats_after(double n) { return std::log((1 + n) / n); }

std::vector<double> nats_of(const std::vector<TokenScore>& scores) {
  std::vector<double> nats;
  for (const TokenScore& score : scores) nats.push_back(score.nats);
  return nats;
}

std::vector<double> nats_after_each(std::initializer_list<double> counts) {
  std::vector<double> nats;
  for (const double count : counts) nats.push_back(nats_after(count));
  return nats;
}

using testing::DoubleNear;
using testing::Pointwise;

TEST(TextEvaluation, StrideAndPrefixDetermineTheContextOfEachToken) {
  const std::vector<TokenId> text(10, 1);
  const auto expect = [&](const EvaluationOptions& options, std::initializer_list<double> context,
                          size_t windows) {
    for (const bool all : {false, true}) {
      CountingDecoder model(4, all);
      const EvaluatedText scores = evaluate_text(model, nullptr, text, options);
      EXPECT_EQ(scores.windows, windows);
      EXPECT_THAT(nats_of(scores.a), Pointwise(DoubleNear(1e-6), nats_after_each(context)));
      EXPECT_EQ(std::ranges::count_if(model.calls, [](size_t count) { return count > 1; }) != 0,
                all);
    }
  };
  expect({}, {1, 2, 3, 4, 1, 2, 3, 4, 1}, 3);
  expect({.stride = 2}, {1, 2, 3, 4, 3, 4, 3, 4, 3}, 4);
  expect({.stride = 1}, {1, 2, 3, 4, 4, 4, 4, 4, 4}, 6);
  // The begin token counts as context, so the first token is scored too.
  expect({.prefix = {0}}, {1, 2, 3, 4, 2, 3, 4, 2, 3, 4}, 3);
}

TEST(TextEvaluation, ModelWithoutCacheGetsTheTextFromTheStart) {
  CountingDecoder model(4, true);
  model.info_.has_cache = false;
  const std::vector<TokenId> text(5, 1);
  EXPECT_THAT(nats_of(evaluate_text(model, nullptr, text, {}).a),
              Pointwise(DoubleNear(1e-6), nats_after_each({1, 2, 3, 4})));
  EXPECT_THAT(model.calls, testing::ElementsAre(3, 4));
}

TEST(TextEvaluation, DivergenceAndTopTokensMatchFormulas) {
  CountingDecoder a(8, false);
  CountingDecoder b(8, true, 0.25);  // after 2 and 3 tokens, B prefers id 0
  const std::vector<TokenId> text = {1, 1, 0, 1, 1, 1};
  const EvaluatedText scores = evaluate_text(a, &b, text, {});
  for (size_t i = 0; i < 5; ++i) {
    const double n = static_cast<double>(i) + 1;
    const double p = n / (n + 1);
    const double q = n / (n + 4);
    EXPECT_NEAR(scores.kl[i], p * std::log(p / q) + (1 - p) * std::log((1 - p) / (1 - q)), 1e-6);
    EXPECT_NEAR(scores.b[i].nats, -std::log(text[i + 1] == 1 ? q : 1 - q), 1e-6);
    EXPECT_EQ(scores.a[i].top, n > 1 ? 1 : 0) << "ties: the lower id wins";
    EXPECT_EQ(scores.b[i].top, n > 4 ? 1 : 0);
  }
}

TEST(TextEvaluation, TokenWithLogitMinusInfinityHasInfiniteNats) {
  constexpr float kExcluded = -std::numeric_limits<float>::infinity();
  const std::vector<float> a = {0, 0, kExcluded};
  const std::vector<float> b = {0, kExcluded, 1000};
  EXPECT_DOUBLE_EQ(ScoredLogits(a).nats(0), std::log(2));
  EXPECT_EQ(ScoredLogits(a).nats(2), std::numeric_limits<double>::infinity());
  EXPECT_EQ(kl_divergence(ScoredLogits(a), ScoredLogits(b)),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(kl_divergence(ScoredLogits(a), ScoredLogits(a)), 0);
}

template <class Run>
std::string error_of(Run run) {
  return thrown<GenerationError>([&] { run(); });
}

TEST(TextEvaluation, RejectsUnsuitableTextsAndModels) {
  const std::vector<TokenId> text(10, 1);
  const auto error = [](std::span<const TokenId> ids, const EvaluationOptions& options,
                        DecoderModel* other = nullptr) {
    return error_of([&] {
      CountingDecoder model(4, false);
      evaluate_text(model, other, ids, options);
    });
  };
  EXPECT_THAT(error({}, {}), HasSubstr("the text is empty"));
  EXPECT_THAT(error(std::span(text).first(1), {}), HasSubstr("the text has one token"));
  EXPECT_THAT(error({{1, 2}}, {}), HasSubstr("token 1 of the text has id 2"));
  EXPECT_THAT(error(text, {.stride = 5}), HasSubstr("a stride of 5 is longer than the 4 tokens"));
  EXPECT_THAT(error(text, {.prefix = {0, 0, 0, 0}}), HasSubstr("4 begin tokens do not fit"));
  CountingDecoder other(4, false);
  other.info_.vocabulary = 3;
  EXPECT_THAT(error(text, {}, &other), HasSubstr("A returns 2 logits, B returns 3"));
  CountingDecoder damaged(4, false);
  damaged.nan_after = 3;
  EXPECT_THAT(error(text, {}, &damaged), HasSubstr("B: token 3 of the text: the logit of id 0 is"));
}

TEST(TextEvaluation, ObserverCanEndTheEvaluationEarly) {
  CountingDecoder model(4, false);
  const std::vector<TokenId> text(10, 1);
  const EvaluatedText scores = evaluate_text(
      model, nullptr, text, {}, [](size_t scored, size_t all) { return scored < 6 && all == 9; });
  EXPECT_TRUE(scores.is_stopped);
  EXPECT_EQ(scores.a.size(), 6u);
}

// The mean of n values of an autoregressive process with coefficient r and innovations of variance
// 1 has a standard error of about 1 / (sqrt(n) * (1 - r)).
TEST(BlockInterval, CoversMeanOfCorrelatedValues) {
  constexpr size_t kValues = 4000;
  constexpr int kSeries = 300;
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const double r : {0.0, 0.8}) {
    int covered = 0;
    double errors = 0;
    for (int series = 0; series < kSeries; ++series) {
      std::vector<double> values(kValues);
      double last = 0;
      for (double& value : values) value = last = r * last + normal(random);
      const RatioEstimate estimate = estimate_ratio(values);
      covered += std::abs(estimate.value) <= *estimate.error;
      errors += *estimate.error / kSeries;
    }
    EXPECT_NEAR(errors, 1.96 / (std::sqrt(kValues) * (1 - r)), 0.1 * errors) << r;
    // The interval must cover the true mean in about 95 % of the series. For 300 series, the
    // standard deviation of this proportion is 0.0126. Finite block lengths reduce the proportion
    // slightly.
    EXPECT_NEAR(static_cast<double>(covered) / kSeries, 0.95, 0.035) << r;
  }
}

TEST(BlockInterval, EstimatesRatioOfSums) {
  std::vector<double> numerators, denominators;
  for (int i = 0; i < 64; ++i) {
    denominators.push_back(1 + i % 3);
    numerators.push_back(2.5 * denominators.back());
  }
  const RatioEstimate estimate = estimate_ratio(numerators, denominators);
  EXPECT_DOUBLE_EQ(estimate.value, 2.5);
  EXPECT_NEAR(*estimate.error, 0, 1e-12);
  EXPECT_FALSE(estimate_ratio(std::span(numerators).first(31)).error);
  numerators[3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(estimate_ratio(numerators).error);
}

// Values from tables of Student's distribution.
TEST(BlockInterval, StudentQuantilesMatchPublishedTables) {
  EXPECT_NEAR(student_quantile(7), 2.3646, 2e-3);
  EXPECT_NEAR(student_quantile(14), 2.1448, 2e-3);
  EXPECT_NEAR(student_quantile(60), 2.0003, 2e-3);
}

}  // namespace
}  // namespace vitrine::test
