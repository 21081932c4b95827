// llama:: operators: attention against its definition in double, and what must be refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "test/kernels/llm_call.h"

namespace vitrine::test {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

INSTANTIATE_TEST_SUITE_P(Kernels, Llm, testing::Bool(), [](const auto& tested) {
  return tested.param ? "Optimized" : "Portable";
});

// The definition, row by row.
void expect_attention(const Tensor& q, const Tensor& k, const Tensor& v, int64_t start,
                      const Tensor* mask, bool causal, double scale, const Tensor& out,
                      double bound = 1e-5) {
  const int64_t tokens = q.size(1);
  const int64_t width = q.size(3);
  const int64_t keys = mask != nullptr ? k.size(1) : start + tokens;
  for (int64_t b = 0; b < q.size(0); ++b) {
    for (int64_t h = 0; h < q.size(2); ++h) {
      const int64_t kv = h / (q.size(2) / k.size(2));
      for (int64_t i = 0; i < tokens; ++i) {
        std::vector<double> weights;
        double total = 0;
        for (int64_t n = 0; n < keys && (!causal || n <= start + i); ++n) {
          double score = 0;
          for (int64_t d = 0; d < width; ++d) score += at(q, b, i, h, d) * at(k, b, n, kv, d);
          score *= scale;
          if (mask != nullptr) score += static_cast<double>(mask->data<float>()[i * keys + n]);
          weights.push_back(std::exp(score));
          total += weights.back();
        }
        for (int64_t d = 0; d < width; ++d) {
          double expected = 0;
          for (size_t n = 0; n < weights.size(); ++n) {
            expected += weights[n] / total * at(v, b, static_cast<int64_t>(n), kv, d);
          }
          ASSERT_NEAR(at(out, b, i, h, d), expected, bound)
              << "batch " << b << " token " << i << " head " << h << " element " << d;
        }
      }
    }
  }
}

TEST_P(Llm, AttendsCausallyFromAPosition) {
  Tensor& q = random_tensor({2, 3, 6, 20});
  Tensor& k = random_tensor({2, 12, 2, 20});
  Tensor& v = random_tensor({2, 12, 2, 20});
  Tensor& out = call.make(ScalarType::kFloat, {2, 3, 6, 20});
  ASSERT_TRUE(succeeds(attend(q, k, v, 5, EValue(), true, EValue(), out)));
  expect_attention(q, k, v, 5, nullptr, true, 1 / std::sqrt(20.0), out);
}

// Keys beyond start_pos + tokens do not count, however little causal the call is.
TEST_P(Llm, AttendsToWhatTheCacheHasSoFar) {
  Tensor& q = random_tensor({1, 2, 2, 8});
  Tensor& k = random_tensor({1, 9, 1, 8});
  Tensor& v = random_tensor({1, 9, 1, 8});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 2, 8});
  ASSERT_TRUE(succeeds(attend(q, k, v, 4, EValue(), false, EValue(0.25), out)));
  expect_attention(q, k, v, 4, nullptr, false, 0.25, out);
}

TEST_P(Llm, AddsAMaskOverTheWholeCache) {
  Tensor& q = random_tensor({2, 3, 4, 8});
  Tensor& k = random_tensor({2, 300, 2, 8});
  Tensor& v = random_tensor({2, 300, 2, 8});
  Tensor& mask = random_tensor({3, 300});
  Tensor& out = call.make(ScalarType::kFloat, {2, 3, 4, 8});
  // The first blocks of the second row are masked wholly.
  for (int n = 0; n < 290; ++n) mask.mutable_data<float>()[300 + n] = -kInfinity;
  ASSERT_TRUE(succeeds(attend(q, k, v, 0, EValue(&mask), false, EValue(), out)));
  expect_attention(q, k, v, 0, &mask, false, 1 / std::sqrt(8.0), out);
}

TEST_P(Llm, ARowThatAttendsToNothingIsNaN) {
  Tensor& q = random_tensor({1, 2, 1, 4});
  Tensor& k = random_tensor({1, 3, 1, 4});
  Tensor& v = random_tensor({1, 3, 1, 4});
  Tensor& mask = call.make<float>({2, 3}, {-kInfinity, -kInfinity, -kInfinity, 0, 0, 0});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 1, 4});
  ASSERT_TRUE(succeeds(attend(q, k, v, 0, EValue(&mask), false, EValue(), out)));
  for (int d = 0; d < 4; ++d) {
    EXPECT_TRUE(std::isnan(out.data<float>()[d]));
    EXPECT_FALSE(std::isnan(out.data<float>()[4 + d]));
  }
}

// Scores far apart: what was summed before the largest one is forgotten.
TEST_P(Llm, LargeScoresDoNotOverflow) {
  Tensor& q = call.make<float>({1, 1, 1, 1}, {1});
  Tensor& k = call.make(ScalarType::kFloat, {1, 400, 1, 1});
  Tensor& v = call.make(ScalarType::kFloat, {1, 400, 1, 1});
  for (int n = 0; n < 400; ++n) {
    k.mutable_data<float>()[n] = static_cast<float>(10 * n);
    v.mutable_data<float>()[n] = static_cast<float>(n);
  }
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 1});
  ASSERT_TRUE(succeeds(attend(q, k, v, 399, EValue(), true, EValue(1.0), out)));
  EXPECT_NEAR(out.data<float>()[0], 399 - std::exp(-10.0), 1e-3);
}

TEST_P(Llm, RefusesAttentionThatDoesNotFit) {
  Tensor& q = random_tensor({1, 2, 4, 8});
  Tensor& k = random_tensor({1, 6, 2, 8});
  Tensor& v = random_tensor({1, 6, 2, 8});
  Tensor& out = call.make<float>({1, 2, 4, 8}, std::vector<float>(64, 5));
  Tensor& mask = random_tensor({2, 6});
  const auto refused = [&](const Error& error, const char* text) {
    EXPECT_TRUE(fails(error, kBad, text));
    EXPECT_THAT(values_of<float>(out), Each(5));
  };
  const EValue none;
  refused(attend(q, k, v, -1, none, true, none, out), "position -1");
  refused(attend(q, k, v, 5, none, true, none, out), "2 tokens from position 5 on do not fit");
  refused(attend(q, k, v, INT64_MAX, none, true, none, out), "do not fit");
  refused(attend(q, k, v, -1, EValue(&mask), false, none, out), "negative");
  refused(attend(q, k, v, 0, EValue(&mask), true, none, out), "exclude each other");
  refused(attend(q, k, v, 0, EValue(&random_tensor({2, 5})), false, none, out), "attn_mask");
  refused(attend(q, k, random_tensor({1, 5, 2, 8}), 0, none, true, none, out), "value");
  refused(
      attend(q, random_tensor({1, 6, 3, 8}), random_tensor({1, 6, 3, 8}), 0, none, true, none, out),
      "3 heads of keys");
  refused(
      attend(q, random_tensor({2, 6, 2, 8}), random_tensor({2, 6, 2, 8}), 0, none, true, none, out),
      "batches");
  refused(attend(random_tensor({1, 0, 4, 8}), k, v, 0, none, true, none, out), "no tokens");
  Tensor& half = call.make(ScalarType::kHalf, {1, 6, 2, 8});
  refused(attend(q, half, half, 0, none, true, none, out), "key");
}

// --- Quantised ---

struct Parameters {
  Tensor& zero_points;
  Tensor& scales;
};

TEST_P(Llm, QuantizedAttentionIsThatOfRealNumbers) {
  for (const bool heads_first : {false, true}) {
    const auto sizes = [&](int32_t tokens, int32_t heads, int32_t width) {
      return heads_first ? Sizes{2, heads, tokens, width} : Sizes{2, tokens, heads, width};
    };
    // Bytes, their parameters, and the real numbers as [batch, token, head, width].
    const auto make = [&](int32_t tokens, int32_t heads, Tensor*& bytes, Tensor*& real) {
      bytes = &call.make(ScalarType::kChar, sizes(tokens, heads, 20));
      Parameters p{call.make(ScalarType::kChar, sizes(tokens, heads, 1)),
                   call.make(ScalarType::kFloat, sizes(tokens, heads, 1))};
      real = &call.make(ScalarType::kFloat, {2, tokens, heads, 20});
      for (int b = 0; b < 2; ++b) {
        for (int t = 0; t < tokens; ++t) {
          for (int h = 0; h < heads; ++h) {
            const int row =
                heads_first ? (b * heads + h) * tokens + t : (b * tokens + t) * heads + h;
            const auto zero = static_cast<int8_t>(random_.integer(-128, 127));
            const auto scale = static_cast<float>(random_.real(0.002, 0.02));
            p.zero_points.mutable_data<int8_t>()[row] = zero;
            p.scales.mutable_data<float>()[row] = scale;
            for (int d = 0; d < 20; ++d) {
              const auto value = static_cast<int8_t>(random_.integer(-128, 127));
              bytes->mutable_data<int8_t>()[row * 20 + d] = value;
              real->mutable_data<float>()[((b * tokens + t) * heads + h) * 20 + d] =
                  static_cast<float>(value - zero) * scale;
            }
          }
        }
      }
      return p;
    };
    Tensor *q, *k, *v, *real_q, *real_k, *real_v;
    const Parameters pq = make(3, 4, q, real_q);
    const Parameters pk = make(9, 2, k, real_k);
    const Parameters pv = make(9, 2, v, real_v);
    Tensor& out = call.make(ScalarType::kFloat, sizes(3, 4, 20));
    ASSERT_TRUE(succeeds(run("custom_quantized_sdpa.out", *q, *k, *v, 5, EValue(), 0.0, true,
                             EValue(), pq.zero_points, pq.scales, pk.zero_points, pk.scales,
                             pv.zero_points, pv.scales, heads_first, out)));
    Tensor& ordered = call.make(ScalarType::kFloat, {2, 3, 4, 20});
    for (int i = 0; i < 2 * 3 * 4 * 20; ++i) {
      const int d = i % 20, h = i / 20 % 4, t = i / 80 % 3, b = i / 240;
      ordered.mutable_data<float>()[i] =
          out.data<float>()[heads_first ? ((b * 4 + h) * 3 + t) * 20 + d : i];
    }
    expect_attention(*real_q, *real_k, *real_v, 5, nullptr, true, 1 / std::sqrt(20.0), ordered,
                     5e-5);
    EXPECT_TRUE(fails(run("custom_quantized_sdpa.out", *q, *k, *v, 5, EValue(), 0.0, true, EValue(),
                          pq.zero_points, pq.scales, pk.zero_points, EValue(), pv.zero_points,
                          pv.scales, heads_first, out),
                      kBad, "zero points and scales"));
  }
}

// --- Caches ---

TEST_P(Llm, UpdateCacheWritesFromItsPositionOn) {
  Tensor& value = call.make<int8_t>({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  Tensor& cache = call.make<int8_t>({2, 3, 1, 2}, std::vector<int8_t>(12, -1));
  Tensor& out = call.make<int8_t>({1}, {9});
  ASSERT_TRUE(succeeds(run("update_cache.out", value, cache, 1, out)));
  EXPECT_THAT(values_of<int8_t>(cache), ElementsAre(-1, -1, 1, 2, 3, 4, -1, -1, 5, 6, 7, 8));
  EXPECT_EQ(out.data<int8_t>()[0], 9);
}

TEST_P(Llm, UpdateCacheRefusesPositionsOutsideOfIt) {
  Tensor& value = random_tensor({1, 2, 1, 2});
  Tensor& cache = call.make<float>({1, 3, 1, 2}, std::vector<float>(6, 5));
  Tensor& out = call.make<float>({1}, {0});
  for (const int64_t start : {int64_t{-1}, int64_t{2}, int64_t{3}, INT64_MAX, INT64_MIN}) {
    EXPECT_TRUE(
        fails(run("update_cache.out", value, cache, start, out), kBad, "do not fit a cache"));
  }
  for (const Sizes& sizes : {Sizes{1, 2, 2, 1}, Sizes{2, 2, 1, 2}, Sizes{1, 2, 1, 3}, Sizes{4}}) {
    EXPECT_TRUE(fails(run("update_cache.out", random_tensor(sizes), cache, 0, out), kBad, "value"));
  }
  Tensor& bytes = call.make(ScalarType::kInt, {1, 2, 1, 2});
  EXPECT_TRUE(fails(run("update_cache.out", bytes, cache, 0, out), kBad, "value"));
  EXPECT_THAT(values_of<float>(cache), Each(5));
}

TEST_P(Llm, TheLastTokenOfAPositionStays) {
  Tensor& value = call.make<float>({1, 3, 1, 1}, {1, 2, 3});
  Tensor& cache = call.make<float>({1, 4, 1, 1}, {0, 0, 0, 0});
  Tensor& out = call.make<float>({1}, {0});
  Tensor& indices = call.make<int64_t>({1, 3}, {3, 1, 3});
  ASSERT_TRUE(succeeds(run("update_cache_with_indices.out", value, cache, -9, indices, out)));
  EXPECT_THAT(values_of<float>(cache), ElementsAre(0, 2, 0, 3));
}

TEST_P(Llm, OneWrongIndexWritesNothing) {
  Tensor& value = call.make<float>({1, 3, 1, 1}, {1, 2, 3});
  Tensor& cache = call.make<float>({1, 4, 1, 1}, {0, 0, 0, 0});
  Tensor& out = call.make<float>({1}, {0});
  for (const int64_t wrong : {int64_t{4}, int64_t{-1}, INT64_MIN}) {
    Tensor& indices = call.make<int64_t>({1, 3}, {0, 1, wrong});
    EXPECT_TRUE(fails(run("update_cache_with_indices.out", value, cache, 0, indices, out), kBad,
                      "is not a position"));
  }
  EXPECT_THAT(values_of<float>(cache), Each(0));
}

TEST_P(Llm, AttentionWithACacheWritesItFirst) {
  Tensor& k_cache = random_tensor({1, 6, 1, 4});
  Tensor& v_cache = random_tensor({1, 6, 1, 4});
  Tensor& q = random_tensor({1, 2, 3, 4});
  Tensor& k = random_tensor({1, 2, 1, 4});
  Tensor& v = random_tensor({1, 2, 1, 4});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 3, 4});
  const auto attend_at = [&](int64_t start, int64_t tokens, Tensor& query) {
    return run("sdpa_with_kv_cache.out", query, k, v, k_cache, v_cache, start, tokens, EValue(),
               0.0, true, EValue(), out);
  };
  const std::vector<float> before = values_of<float>(k_cache);
  EXPECT_TRUE(fails(attend_at(5, 2, q), kBad, "do not fit"));
  EXPECT_TRUE(fails(attend_at(-1, 2, q), kBad, "do not fit"));
  EXPECT_TRUE(fails(attend_at(3, 1, q), kBad, "seq_len is 1"));
  EXPECT_TRUE(fails(attend_at(3, 2, random_tensor({1, 2, 3, 5})), kBad, "elements"));
  EXPECT_EQ(values_of<float>(k_cache), before);
  ASSERT_TRUE(succeeds(attend_at(3, 2, q)));
  for (int64_t d = 0; d < 8; ++d) {
    EXPECT_EQ(k_cache.data<float>()[12 + d], k.data<float>()[d]);
    EXPECT_EQ(v_cache.data<float>()[12 + d], v.data<float>()[d]);
  }
  expect_attention(q, k_cache, v_cache, 3, nullptr, true, 0.5, out);
}

TEST_P(Llm, FallbackCopies) {
  Tensor& input = random_tensor({2, 3});
  Tensor& out = call.make(ScalarType::kFloat, {2, 3});
  ASSERT_TRUE(succeeds(run("fallback.out", input, out)));
  EXPECT_EQ(values_of<float>(out), values_of<float>(input));
}

}  // namespace
}  // namespace vitrine::test
