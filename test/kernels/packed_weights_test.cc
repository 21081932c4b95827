// Compares kernels that read torchao's packed weights with products of the same weights, computed
// in double.

#include <cmath>
#include <vector>

#include "test/kernels/llm_call.h"

namespace vitrine::test {
namespace {

// Int4 or int8 weights, [rows, columns]. Each group of each row has a scale.
struct FloatWeights {
  int64_t rows, columns, group, bits;
  bool has_bias;
  std::vector<int> values = {};
  std::vector<float> scales = {};
  std::vector<float> biases = {};

  double at(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row * columns + column)] *
           static_cast<double>(
               scales[static_cast<size_t>(row * (columns / group) + column / group)]);
  }
};

FloatWeights random_weights(Random& random, FloatWeights weights) {
  const double limit = weights.bits == 4 ? 8 : 128;
  for (int64_t i = 0; i < weights.rows * weights.columns; ++i) {
    weights.values.push_back(static_cast<int>(std::floor(random.real(-limit, limit))));
  }
  for (int64_t i = 0; i < weights.rows * weights.columns / weights.group; ++i) {
    weights.scales.push_back(static_cast<float>(random.real(0.1, 1) / limit));
  }
  for (int64_t i = 0; i < weights.rows; ++i) {
    weights.biases.push_back(static_cast<float>(random.real(-1, 1)));
  }
  return weights;
}

void put(std::vector<uint8_t>& bytes, const auto& value) {
  const auto* const from = reinterpret_cast<const uint8_t*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

// Packs weights in torchao's universal layout: blocks of 8 rows, packets of 16 columns.
std::vector<uint8_t> pack(const FloatWeights& w) {
  std::vector<uint8_t> bytes;
  for (const int32_t field : {6712, 1, static_cast<int>(w.bits), 0, w.has_bias ? 1 : 0, 8, 16, 2}) {
    put(bytes, field);
  }
  bytes.resize(64);
  const auto value = [&](int64_t row, int64_t column) {
    return row < w.rows ? w.values[static_cast<size_t>(row * w.columns + column)] : 0;
  };
  for (int64_t block = 0; block < w.rows; block += 8) {
    for (int64_t group = 0; group < w.columns; group += w.group) {
      for (int64_t column = group; column < group + w.group; column += 16) {
        std::vector<int> packet;
        for (const int half : {0, 8}) {
          for (int row = 0; row < 8; ++row) {
            for (int i = 0; i < 8; ++i) packet.push_back(value(block + row, column + half + i));
          }
        }
        for (size_t i = 0; w.bits == 8 && i < 128; ++i) put(bytes, static_cast<int8_t>(packet[i]));
        for (size_t i = 0; w.bits == 4 && i < 64; ++i) {
          const size_t low = i / 16 * 32 + i % 16;
          put(bytes, static_cast<uint8_t>((packet[low] + 8) | ((packet[low + 16] + 8) << 4)));
        }
      }
      for (int64_t row = block; row < block + 8; ++row) {
        const int64_t groups = w.columns / w.group;
        put(bytes,
            row < w.rows ? w.scales[static_cast<size_t>(row * groups + group / w.group)] : 0.0F);
      }
      for (int64_t row = block; row < block + 8; ++row) {
        int32_t sum = 0;
        for (int64_t i = group; i < group + w.group; ++i) sum += value(row, i);
        put(bytes, sum);
      }
    }
    for (int64_t row = block; w.has_bias && row < block + 8; ++row) {
      put(bytes, row < w.rows ? w.biases[static_cast<size_t>(row)] : 0.0F);
    }
  }
  return bytes;
}

class PackedWeightsTest : public Llm {
 protected:
  Tensor& packed(ScalarType dtype, const std::vector<std::vector<uint8_t>>& experts) {
    const auto bytes = static_cast<int32_t>(experts[0].size());
    Tensor& tensor = dtype == ScalarType::kChar
                         ? call.make(dtype, {bytes})
                         : call.make(dtype, {static_cast<int32_t>(experts.size()), bytes});
    auto* to = static_cast<uint8_t*>(tensor.mutable_raw_data());
    for (const auto& expert : experts) to = std::copy(expert.begin(), expert.end(), to);
    return tensor;
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, PackedWeightsTest, testing::Values(false));

TEST_P(PackedWeightsTest, LinearMatchesProductOfQuantizedRows) {
  const auto pool = require(ThreadPool::create(3, ThreadPool::Use::kAlways));
  for (const FloatWeights& shape :
       {FloatWeights{32, 96, 32, 4, false}, {40, 32, 32, 8, true}, {13, 64, 16, 4, true}}) {
    const FloatWeights weights = random_weights(random_, shape);
    call.pool = shape.rows == 13 ? pool.get() : nullptr;
    const auto n = static_cast<int32_t>(shape.rows), k = static_cast<int32_t>(shape.columns);
    Tensor& x = random_tensor({5, k});
    Tensor& out = call.output_of(
        ScalarType::kFloat, {5, n},
        "torchao::_linear_8bit_act_" + std::to_string(shape.bits) + "bit_weight.out", x,
        packed(ScalarType::kChar, {pack(weights)}), shape.group, shape.rows, shape.columns);
    for (int row = 0; row < 5; ++row) {
      const float* const values = x.data<float>() + row * k;
      // Quantizing a row changes each element by at most half of a quantization step.
      const auto [low, high] = std::minmax_element(values, values + k);
      const double step = static_cast<double>(*high - *low) / 255;
      for (int r = 0; r < n; ++r) {
        double sum =
            shape.has_bias ? static_cast<double>(weights.biases[static_cast<size_t>(r)]) : 0;
        double moved = 1e-4;
        for (int i = 0; i < k; ++i) {
          sum += static_cast<double>(values[i]) * weights.at(r, i);
          moved += step * std::abs(weights.at(r, i)) / 2;
        }
        ASSERT_NEAR(static_cast<double>(out.data<float>()[row * n + r]), sum, moved) << row << r;
      }
    }
  }
}

// Returns the weight of each expert for a token, computed in double. If the token is not routed to
// an expert, the weight is 0.
std::vector<double> routes_of(const Tensor& x, const Tensor& gate, const Tensor& bias,
                              int64_t token, int64_t chosen, bool is_sigmoid, double route_scale) {
  std::vector<double> scores, ranked;
  for (int64_t expert = 0; expert < gate.size(0); ++expert) {
    double sum = 0;
    for (int64_t i = 0; i < x.size(1); ++i) {
      sum += static_cast<double>(x.data<float>()[token * x.size(1) + i]) *
             static_cast<double>(gate.data<float>()[expert * x.size(1) + i]);
    }
    scores.push_back(is_sigmoid ? 1 / (1 + std::exp(-sum)) : std::exp(sum));
    ranked.push_back(is_sigmoid ? scores.back() + static_cast<double>(bias.data<float>()[expert])
                                : scores.back());
  }
  std::vector<double> sorted = ranked;
  std::ranges::sort(sorted, std::greater());
  double sum = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (ranked[i] < sorted[static_cast<size_t>(chosen) - 1]) scores[i] = 0;
    sum += scores[i];
  }
  for (double& score : scores) score *= (is_sigmoid ? route_scale : 1) / sum;
  return scores;
}

TEST_P(PackedWeightsTest, MixtureOfExpertsMatchesFormula) {
  constexpr int64_t kExperts = 4, kChosen = 2, kHidden = 32, kDim = 64, kTokens = 7;
  for (const bool is_sigmoid : {true, false}) {
    const int64_t bits = is_sigmoid ? 4 : 8;
    std::vector<FloatWeights> w13, w2;
    std::vector<std::vector<uint8_t>> packed13, packed2;
    for (int64_t i = 0; i < kExperts; ++i) {
      w13.push_back(random_weights(random_, {2 * kHidden, kDim, 32, bits, false}));
      w2.push_back(random_weights(random_, {kDim, kHidden, 32, bits, false}));
      packed13.push_back(pack(w13.back()));
      packed2.push_back(pack(w2.back()));
    }
    Tensor& x = random_tensor({kTokens, kDim});
    Tensor& gate = random_tensor({kExperts, kDim}, 0.2);
    Tensor& bias = random_tensor({kExperts}, 0.5);
    Tensor& out = call.make(ScalarType::kFloat, {kTokens, kDim});
    ASSERT_TRUE(
        succeeds(run("quantized_moe_ffn.out", x, gate, bias, packed(ScalarType::kByte, packed13),
                     packed(ScalarType::kByte, packed2), kChosen, kExperts, kHidden, kDim,
                     int64_t{32}, bits, is_sigmoid ? "sigmoid" : "softmax", 1.5, out)));
    for (int64_t token = 0; token < kTokens; ++token) {
      const std::vector<double> routes = routes_of(x, gate, bias, token, kChosen, is_sigmoid, 1.5);
      std::vector<double> expected(kDim);
      for (size_t expert = 0; expert < kExperts; ++expert) {
        std::vector<double> hidden(2 * kHidden);
        for (int64_t j = 0; j < 2 * kHidden; ++j) {
          for (int64_t i = 0; i < kDim; ++i) {
            hidden[static_cast<size_t>(j)] +=
                static_cast<double>(x.data<float>()[token * kDim + i]) * w13[expert].at(j, i);
          }
        }
        for (int64_t i = 0; i < kDim; ++i) {
          for (size_t j = 0; j < kHidden; ++j) {
            expected[static_cast<size_t>(i)] += routes[expert] * hidden[j] /
                                                (1 + std::exp(-hidden[j])) * hidden[kHidden + j] *
                                                w2[expert].at(i, static_cast<int64_t>(j));
          }
        }
      }
      for (int64_t i = 0; i < kDim; ++i) {
        ASSERT_NEAR(static_cast<double>(out.data<float>()[token * kDim + i]),
                    expected[static_cast<size_t>(i)], 2e-4);
      }
    }
  }
}

TEST_P(PackedWeightsTest, RejectsInvalidLayoutsAndSizes) {
  const FloatWeights weights = random_weights(random_, {8, 32, 32, 4, false});
  Tensor& x = random_tensor({1, 32});
  Tensor& out = call.make(ScalarType::kFloat, {1, 8});
  const auto linear = [&](const std::vector<uint8_t>& bytes, int64_t group, int64_t n) {
    return call.run("torchao::_linear_8bit_act_4bit_weight.out", x,
                    packed(ScalarType::kChar, {bytes}), group, n, int64_t{32}, out);
  };
  std::vector<uint8_t> bytes = pack(weights);
  EXPECT_TRUE(succeeds(linear(bytes, 32, 8)));
  EXPECT_TRUE(fails(linear(bytes, 32, 9), kBad, "not the size of 9 x 32 weights"));
  EXPECT_TRUE(fails(linear(bytes, 24, 8), kBad, "in groups of 24"));
  EXPECT_TRUE(
      fails(linear({bytes.begin(), bytes.end() - 1}, 32, 8), kBad, "bytes is not the size"));
  EXPECT_TRUE(fails(linear({bytes.begin(), bytes.begin() + 10}, 32, 8), kBad, "universal layout"));
  bytes[4] = 3;  // the code of KleidiAI's layout
  EXPECT_TRUE(fails(linear(bytes, 32, 8), kBad, "universal layout"));
}

}  // namespace
}  // namespace vitrine::test
