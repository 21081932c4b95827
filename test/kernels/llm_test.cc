// Tests llama:: operators: attention against its definition in double, caches, and invalid
// arguments.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "test/kernels/kernel_cases.h"
#include "test/kernels/llm_call.h"

namespace vitrine::test {
namespace {

using testing::Each;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Compares `out` with the definition of attention, row by row.
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

class Attention : public Llm {
 protected:
  // Calls the operator with random tensors of these sizes, and compares the result with the
  // definition. If `scale` is None, the definition's scale is 1 / sqrt(width).
  void expect_attention_of(const Sizes& queries, const Sizes& keys, int64_t start, Tensor* mask,
                           bool causal, const EValue& scale = EValue()) {
    Tensor& q = random_tensor(queries);
    Tensor& k = random_tensor(keys);
    Tensor& v = random_tensor(keys);
    Tensor& out = call.make(ScalarType::kFloat, queries);
    const EValue bias = mask == nullptr ? EValue() : EValue(mask);
    ASSERT_TRUE(succeeds(attend(q, k, v, start, bias, causal, scale, out)));
    expect_attention(q, k, v, start, mask, causal,
                     scale.is_none() ? 1 / std::sqrt(queries[3]) : scale.unchecked_double(), out);
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, Llm, testing::Bool(), kernels_name);
INSTANTIATE_TEST_SUITE_P(Kernels, Attention, testing::Bool(), kernels_name);

TEST_P(Attention, StartsAtTheGivenPositionIfCausal) {
  expect_attention_of({2, 3, 6, 20}, {2, 12, 2, 20}, 5, nullptr, true);
}

// Keys at or after start_pos + tokens are ignored, even if the call is not causal.
TEST_P(Attention, IgnoresKeysAfterTheLastToken) {
  expect_attention_of({1, 2, 2, 8}, {1, 9, 1, 8}, 4, nullptr, false, EValue(0.25));
}

TEST_P(Attention, AddsTheMaskForAllKeys) {
  Tensor& mask = random_tensor({3, 300});
  // Masks the first 290 keys for the second token, so that whole blocks of keys are masked.
  for (int n = 0; n < 290; ++n) mask.mutable_data<float>()[300 + n] = -kInfinity;
  expect_attention_of({2, 3, 4, 8}, {2, 300, 2, 8}, 0, &mask, false);
}

TEST_P(Llm, FullyMaskedRowReturnsNan) {
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

// Each score exceeds the previous one by 10, so only the last two keys contribute noticeably.
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

TEST_P(Llm, AttentionRejectsInvalidArguments) {
  Tensor& q = random_tensor({1, 2, 4, 8});
  Tensor& k = random_tensor({1, 6, 2, 8});
  Tensor& v = random_tensor({1, 6, 2, 8});
  Tensor& out = call.make<float>({1, 2, 4, 8}, std::vector<float>(64, 5));
  Tensor& mask = random_tensor({2, 6});
  const auto expect_rejected = [&](const Error& error, const char* text) {
    EXPECT_TRUE(fails(error, kBad, text));
    EXPECT_THAT(values_of<float>(out), Each(5));
  };
  const EValue none;
  expect_rejected(attend(q, k, v, -1, none, true, none, out), "position -1");
  expect_rejected(attend(q, k, v, 5, none, true, none, out), "2 tokens from position 5 do not fit");
  expect_rejected(attend(q, k, v, INT64_MAX, none, true, none, out), "do not fit");
  expect_rejected(attend(q, k, v, -1, EValue(&mask), false, none, out), "negative");
  expect_rejected(attend(q, k, v, 0, EValue(&mask), true, none, out), "cannot be combined");
  expect_rejected(attend(q, k, v, 0, EValue(&random_tensor({2, 5})), false, none, out),
                  "attn_mask");
  expect_rejected(attend(q, k, random_tensor({1, 5, 2, 8}), 0, none, true, none, out), "value");
  expect_rejected(
      attend(q, random_tensor({1, 6, 3, 8}), random_tensor({1, 6, 3, 8}), 0, none, true, none, out),
      "key heads (3)");
  expect_rejected(
      attend(q, random_tensor({2, 6, 2, 8}), random_tensor({2, 6, 2, 8}), 0, none, true, none, out),
      "batches");
  expect_rejected(attend(random_tensor({1, 0, 4, 8}), k, v, 0, none, true, none, out), "no tokens");
  Tensor& half = call.make(ScalarType::kHalf, {1, 6, 2, 8});
  expect_rejected(attend(q, half, half, 0, none, true, none, out), "key");
}

// The mask and the parameters are read while the output is written.
TEST_P(Llm, RejectsOutputThatOverlapsMaskOrParameters) {
  constexpr const char* kMessage = "the output overlaps the memory of an input";
  Tensor& q = random_tensor({1, 2, 2, 4});
  Tensor& k = random_tensor({1, 3, 1, 4});
  Tensor& v = random_tensor({1, 3, 1, 4});
  Tensor& mask = random_tensor({2, 3});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 2, 4});
  ASSERT_TRUE(succeeds(attend(q, k, v, 0, EValue(&mask), false, EValue(), out)));
  call.overlap(mask, out, 4);
  EXPECT_TRUE(fails(attend(q, k, v, 0, EValue(&mask), false, EValue(), out), kBad, kMessage));

  Tensor* const bytes[] = {&call.make(ScalarType::kChar, {1, 2, 2, 4}),
                           &call.make(ScalarType::kChar, {1, 2, 1, 4}),
                           &call.make(ScalarType::kChar, {1, 2, 1, 4})};
  constexpr size_t kParameters = 6;
  for (size_t overlapped = 0; overlapped <= kParameters; ++overlapped) {
    Tensor* parameters[kParameters];
    for (size_t i = 0; i < kParameters; ++i) {
      const Sizes sizes = i < 2 ? Sizes{1, 2, 2, 1} : Sizes{1, 2, 1, 1};
      parameters[i] = &call.make(i % 2 == 0 ? ScalarType::kChar : ScalarType::kFloat, sizes);
    }
    Tensor& result = call.make(ScalarType::kFloat, {1, 2, 2, 4});
    if (overlapped < kParameters) call.overlap(*parameters[overlapped], result, 4);
    const Error error =
        run("custom_quantized_sdpa.out", *bytes[0], *bytes[1], *bytes[2], 0, EValue(), 0.0, true,
            EValue(), *parameters[0], *parameters[1], *parameters[2], *parameters[3],
            *parameters[4], *parameters[5], false, result);
    if (overlapped < kParameters) {
      EXPECT_TRUE(fails(error, kBad, kMessage)) << overlapped;
    } else {
      EXPECT_TRUE(succeeds(error));
    }
  }
}

// --- Quantized ---

struct Parameters {
  Tensor& zero_points;
  Tensor& scales;
};

TEST_P(Llm, QuantizedAttentionMatchesDequantizedAttention) {
  for (const bool heads_first : {false, true}) {
    const auto sizes = [&](int32_t tokens, int32_t heads, int32_t width) {
      return heads_first ? Sizes{2, heads, tokens, width} : Sizes{2, tokens, heads, width};
    };
    // Makes int8 values, their quantization parameters, and the corresponding real values. The
    // shape of the real values is [batch, token, head, width].
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

TEST(LlmCaches, UpdateCacheWritesFromStartPosition) {
  check_kernel("llama::update_cache.out",
               {{"i8[2,2,1,2]{1,2,3,4,5,6,7,8} !i8[2,3,1,2]{-1} 1 !i8[1]{9}",
                 "-1,-1,1,2,3,4,-1,-1,5,6,7,8 9"}});
}

TEST_P(Llm, UpdateCacheRejectsPositionsOutOfRange) {
  Tensor& value = random_tensor({1, 2, 1, 2});
  Tensor& cache = call.make<float>({1, 3, 1, 2}, std::vector<float>(6, 5));
  Tensor& out = call.make<float>({1}, {0});
  for (const int64_t start : {int64_t{-1}, int64_t{2}, int64_t{3}, INT64_MAX, INT64_MIN}) {
    EXPECT_TRUE(
        fails(run("update_cache.out", value, cache, start, out), kBad, "do not fit in a cache"));
  }
  for (const Sizes& sizes : {Sizes{1, 2, 2, 1}, Sizes{2, 2, 1, 2}, Sizes{1, 2, 1, 3}, Sizes{4}}) {
    EXPECT_TRUE(fails(run("update_cache.out", random_tensor(sizes), cache, 0, out), kBad, "value"));
  }
  Tensor& bytes = call.make(ScalarType::kInt, {1, 2, 1, 2});
  EXPECT_TRUE(fails(run("update_cache.out", bytes, cache, 0, out), kBad, "value"));
  EXPECT_THAT(values_of<float>(cache), Each(5));
}

TEST(LlmCaches, UpdateCacheWithIndicesKeepsLastTokenForEachPosition) {
  check_kernel("llama::update_cache_with_indices.out",
               {{"f32[1,3,1,1]{1,2,3} !f32[1,4,1,1]{0} -9 i64[1,3]{3,1,3} !f32[1]", "0,2,0,3 ?"}});
}

TEST_P(Llm, UpdateCacheWithIndicesWritesNothingOnError) {
  Tensor& value = call.make<float>({1, 3, 1, 1}, {1, 2, 3});
  Tensor& cache = call.make<float>({1, 4, 1, 1}, {0, 0, 0, 0});
  Tensor& out = call.make<float>({1}, {0});
  for (const int64_t wrong : {int64_t{4}, int64_t{-1}, INT64_MIN}) {
    Tensor& indices = call.make<int64_t>({1, 3}, {0, 1, wrong});
    EXPECT_TRUE(fails(run("update_cache_with_indices.out", value, cache, 0, indices, out), kBad,
                      "is out of range"));
  }
  EXPECT_THAT(values_of<float>(cache), Each(0));
}

TEST_P(Llm, AttentionWithCacheWritesTheCacheBeforeAttending) {
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
  EXPECT_TRUE(fails(attend_at(3, 2, random_tensor({1, 2, 3, 5})), kBad, "width"));
  EXPECT_EQ(values_of<float>(k_cache), before);
  ASSERT_TRUE(succeeds(attend_at(3, 2, q)));
  for (int64_t d = 0; d < 8; ++d) {
    EXPECT_EQ(k_cache.data<float>()[12 + d], k.data<float>()[d]);
    EXPECT_EQ(v_cache.data<float>()[12 + d], v.data<float>()[d]);
  }
  expect_attention(q, k_cache, v_cache, 3, nullptr, true, 0.5, out);
}

// The kernel writes the caches before it reads the queries and the mask.
TEST_P(Llm, AttentionWithCacheRejectsSharedMemory) {
  Tensor& k_cache = random_tensor({1, 4, 1, 4});
  Tensor& v_cache = random_tensor({1, 4, 1, 4});
  Tensor& q = random_tensor({1, 1, 1, 4});
  Tensor& k = random_tensor({1, 1, 1, 4});
  Tensor& mask = random_tensor({1, 4});
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 4});
  const auto attend = [&](Tensor& query, Tensor& key, Tensor& value, Tensor& cache, Tensor& bias) {
    return run("sdpa_with_kv_cache.out", query, key, value, k_cache, cache, 0, 1, bias, 0.0, false,
               EValue(), out);
  };
  const auto in_cache = [&](Sizes sizes) -> Tensor& {
    Tensor& tensor = call.make(ScalarType::kFloat, sizes);
    tensor.set_data(k_cache.mutable_raw_data());
    return tensor;
  };
  const std::vector<float> before = values_of<float>(k_cache);
  EXPECT_TRUE(fails(attend(q, out, k, v_cache, mask), kBad, "overlaps"));
  EXPECT_TRUE(fails(attend(q, k, out, v_cache, mask), kBad, "overlaps"));
  EXPECT_TRUE(fails(attend(q, k, k, k_cache, mask), kBad, "overlaps"));
  EXPECT_TRUE(fails(attend(in_cache({1, 1, 1, 4}), k, k, v_cache, mask), kBad, "overlaps"));
  EXPECT_TRUE(fails(attend(q, k, k, v_cache, in_cache({1, 4})), kBad, "overlaps"));
  EXPECT_EQ(values_of<float>(k_cache), before);
  EXPECT_TRUE(succeeds(attend(q, k, k, v_cache, mask)));
}

TEST(LlmCaches, FallbackOperatorCopiesItsInput) {
  check_kernel("llama::fallback.out", {{"f32[2,3]{1,2,3,4,5,6} !f32[2,3]", "1,2,3,4,5,6"}});
}

}  // namespace
}  // namespace vitrine::test
