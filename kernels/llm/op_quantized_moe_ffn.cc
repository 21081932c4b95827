// A mixture of experts: chooses a few feed-forward networks (experts) for each token and adds up
// their weighted outputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "kernels/util/checks.h"
#include "kernels/util/packed_weights.h"
#include "kernels/util/parallel.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

struct Experts {
  int64_t tokens, dim, hidden, experts, chosen;
  bool is_sigmoid;
  float route_scale;
};

void score(const float* x, const float* gate, const Experts& n, float* scores) {
  for (int64_t expert = 0; expert < n.experts; ++expert) {
    std::array<float, 8> sums{};
    const float* const weights = gate + expert * n.dim;
    int64_t i = 0;
    for (; i + 8 <= n.dim; i += 8) {
      for (size_t lane = 0; lane < 8; ++lane) {
        sums[lane] += x[i + static_cast<int64_t>(lane)] * weights[i + static_cast<int64_t>(lane)];
      }
    }
    float sum = 0;
    for (const float lane : sums) sum += lane;
    for (; i < n.dim; ++i) sum += x[i] * weights[i];
    scores[expert] = n.is_sigmoid ? 1 / (1 + std::exp(-sum)) : sum;
  }
}

// Marks the chosen experts and sets their weights. Ties: the lower index wins. NaN never wins
// against a number.
void choose(const float* scores, const float* bias, const Experts& n, bool* is_chosen,
            float* weights) {
  std::fill_n(is_chosen, n.experts, false);
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < n.chosen; ++i) {
    int64_t best = -1;
    float best_score = 0;
    for (int64_t expert = 0; expert < n.experts; ++expert) {
      if (is_chosen[expert]) continue;
      const float candidate = scores[expert] + (bias == nullptr ? 0 : bias[expert]);
      if (best < 0 || candidate > best_score ||
          (std::isnan(best_score) && !std::isnan(candidate))) {
        best = expert;
        best_score = candidate;
      }
    }
    is_chosen[best] = true;
    largest = std::max(largest, scores[best]);
  }
  float sum = 0;
  for (int64_t expert = 0; expert < n.experts; ++expert) {
    if (!is_chosen[expert]) continue;
    weights[expert] = n.is_sigmoid ? scores[expert] : std::exp(scores[expert] - largest);
    sum += weights[expert];
  }
  for (int64_t expert = 0; expert < n.experts; ++expert) {
    if (!is_chosen[expert]) continue;
    weights[expert] = n.is_sigmoid ? weights[expert] * n.route_scale /
                                         std::max(sum, std::numeric_limits<float>::min())
                                   : weights[expert] / sum;
  }
}

// Multiplies rows by packed weights and calls store(row, output, product) for each product.
class Products {
 public:
  bool allocate(KernelContext& context, int64_t group_size, int64_t max_rows) {
    group_size_ = group_size;
    max_rows_ = max_rows;
    values_ =
        static_cast<int8_t*>(context.allocate_temp({worker_count(context), group_size, kRows}));
    sums_ = static_cast<float*>(
        context.allocate_temp({worker_count(context), max_rows, kRows, int64_t{sizeof(float)}}));
    return !context.failed();
  }

  // Each input row has as many elements as `weights` has columns.
  template <class Store>
  void run(KernelContext& context, const PackedWeights& weights, std::span<const float*> inputs,
           const Store& store) const {
    const int64_t rows = static_cast<int64_t>(inputs.size());
    const int64_t work = work_of({weights.blocks() * kRows, weights.shape().columns, rows + 1});
    parallel(context, weights.blocks(), work, [&](int64_t block, int64_t worker) {
      int8_t* const values = values_ + worker * group_size_ * kRows;
      float* const sums = sums_ + worker * max_rows_ * kRows;
      std::fill_n(sums, rows * kRows, 0.0F);
      for (int64_t group = 0; group < weights.groups(); ++group) {
        std::array<float, kRows> scales;
        weights.unpack(block, group, values, scales.data());
        for (int64_t row = 0; row < rows; ++row) {
          std::array<float, kRows> products{};
          weights.multiply(inputs[static_cast<size_t>(row)] + group * group_size_, values,
                           products.data());
          for (size_t i = 0; i < kRows; ++i) {
            sums[row * kRows + static_cast<int64_t>(i)] += products[i] * scales[i];
          }
        }
      }
      const int64_t outputs = std::min<int64_t>(kRows, weights.shape().rows - block * kRows);
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < outputs; ++i) store(row, block * kRows + i, sums[row * kRows + i]);
      }
    });
  }

 private:
  static constexpr int64_t kRows = PackedWeights::kRows;

  int8_t* values_ = nullptr;
  float* sums_ = nullptr;
  int64_t group_size_ = 0;
  int64_t max_rows_ = 0;
};

bool check_floats(KernelContext& context, const Tensor& tensor, std::span<const int32_t> sizes,
                  const char* name) {
  return check_dtype(context, tensor, ScalarType::kFloat, name) &&
         check_sizes(context, tensor, sizes, name) && check_contiguous(context, tensor, name) &&
         check_data(context, {&tensor});
}

bool check_packed(KernelContext& context, const Tensor& tensor, int64_t experts, const char* name) {
  return check_dtype(context, tensor, ScalarType::kByte, name) &&
         check_rank(context, tensor, 2, name) &&
         check_sizes(context, tensor, std::array{static_cast<int32_t>(experts), tensor.size(1)},
                     name) &&
         check_contiguous(context, tensor, name) && check_data(context, {&tensor});
}

bool read_expert(KernelContext& context, const Tensor& packed, int64_t expert,
                 const PackedWeights::Shape& shape, const char* name, PackedWeights& weights) {
  const auto bytes = static_cast<size_t>(packed.size(1));
  return weights.read(
      context,
      static_cast<const std::byte*>(packed.raw_data()) + static_cast<size_t>(expert) * bytes, bytes,
      shape, name);
}

// Shapes: x and out [tokens, dim]; gate_weight [experts, dim]; expert_bias [experts] or empty. Each
// expert has a matrix [2 * hidden_dim, dim] in packed_w13 and a matrix [dim, hidden_dim] in
// packed_w2.
void quantized_moe_ffn_out(KernelContext& context, const Tensor& x, const Tensor& gate_weight,
                           const Tensor& expert_bias, const Tensor& packed_w13,
                           const Tensor& packed_w2, int64_t num_activated_experts,
                           int64_t num_experts, int64_t hidden_dim, int64_t dim, int64_t group_size,
                           int64_t weight_nbit, std::string_view score_func, double route_scale,
                           Tensor& out) {
  constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max() / 2;
  if (num_experts < 1 || num_experts > kMaxSize || num_activated_experts < 1 ||
      num_activated_experts > num_experts || hidden_dim < 1 || hidden_dim > kMaxSize || dim < 1 ||
      dim > kMaxSize || (score_func != "sigmoid" && score_func != "softmax")) {
    context.fail(
        ErrorCode::kInvalidArgument,
        "num_activated_experts %lld, num_experts %lld, hidden_dim %lld, dim %lld, score_func "
        "\"%.*s\": expected numbers from 1 to 2^30 - 1, num_activated_experts <= num_experts, and "
        "score_func \"sigmoid\" or \"softmax\"",
        static_cast<long long>(num_activated_experts), static_cast<long long>(num_experts),
        static_cast<long long>(hidden_dim), static_cast<long long>(dim),
        static_cast<int>(std::min<size_t>(score_func.size(), 32)), score_func.data());
    return;
  }
  if (!check_rank(context, x, 2, "x")) return;
  const Experts n = {.tokens = x.size(0),
                     .dim = dim,
                     .hidden = hidden_dim,
                     .experts = num_experts,
                     .chosen = num_activated_experts,
                     .is_sigmoid = score_func == "sigmoid",
                     .route_scale = static_cast<float>(route_scale)};
  const std::array sizes = {x.size(0), static_cast<int32_t>(dim)};
  const std::array gate = {static_cast<int32_t>(num_experts), static_cast<int32_t>(dim)};
  const bool has_bias = n.is_sigmoid && expert_bias.numel() > 0;
  if (!check_floats(context, x, sizes, "x") ||
      !check_floats(context, gate_weight, gate, "gate_weight") ||
      (has_bias && !check_floats(context, expert_bias, std::span(gate).first(1), "expert_bias")) ||
      !check_packed(context, packed_w13, num_experts, "packed_w13") ||
      !check_packed(context, packed_w2, num_experts, "packed_w2") || !context.resize(out, sizes) ||
      !check_floats(context, out, sizes, "out") ||
      !check_no_overlap(context, out, {&x, &gate_weight, &expert_bias, &packed_w13, &packed_w2})) {
    return;
  }
  const PackedWeights::Shape w13 = {2 * hidden_dim, dim, group_size, weight_nbit};
  const PackedWeights::Shape w2 = {dim, hidden_dim, group_size, weight_nbit};
  PackedWeights weights;
  for (int64_t expert = 0; expert < num_experts; ++expert) {  // checks all before it writes
    if (!read_expert(context, packed_w13, expert, w13, "packed_w13", weights) ||
        !read_expert(context, packed_w2, expert, w2, "packed_w2", weights)) {
      return;
    }
  }
  if (n.tokens == 0) return;
  Products products;
  auto* const scores = static_cast<float*>(
      context.allocate_temp({worker_count(context), num_experts, int64_t{sizeof(float)}}));
  auto* const routes =
      static_cast<float*>(context.allocate_temp({n.tokens, num_experts, int64_t{sizeof(float)}}));
  auto* const is_chosen = static_cast<bool*>(context.allocate_temp({n.tokens, num_experts}));
  auto* const hidden = static_cast<float*>(
      context.allocate_temp({n.tokens, hidden_dim, 2 * int64_t{sizeof(float)}}));
  const auto inputs = context.allocate_temp_array<const float*>(static_cast<size_t>(n.tokens));
  const auto tokens = context.allocate_temp_array<int64_t>(static_cast<size_t>(n.tokens));
  if (context.failed() || !products.allocate(context, group_size, n.tokens)) return;

  const auto* const rows = x.unchecked_data<float>();
  const float* const bias = has_bias ? expert_bias.unchecked_data<float>() : nullptr;
  parallel(context, n.tokens, work_of({n.tokens, num_experts, dim + 8 * n.chosen}),
           [&](int64_t token, int64_t worker) {
             float* const own = scores + worker * num_experts;
             score(rows + token * dim, gate_weight.unchecked_data<float>(), n, own);
             choose(own, bias, n, is_chosen + token * num_experts, routes + token * num_experts);
           });
  auto* const results = out.unchecked_mutable_data<float>();
  std::fill_n(results, n.tokens * dim, 0.0F);
  for (int64_t expert = 0; expert < num_experts; ++expert) {
    size_t count = 0;
    for (int64_t token = 0; token < n.tokens; ++token) {
      if (!is_chosen[token * num_experts + expert]) continue;
      inputs[count] = rows + token * dim;
      tokens[count++] = token;
    }
    if (count == 0) continue;
    if (!read_expert(context, packed_w13, expert, w13, "packed_w13", weights)) return;
    products.run(context, weights, inputs.first(count),
                 [&](int64_t row, int64_t output, float product) {
                   hidden[row * 2 * hidden_dim + output] = product;
                 });
    for (size_t row = 0; row < count; ++row) {
      float* const gated = hidden + static_cast<int64_t>(row) * 2 * hidden_dim;
      for (int64_t i = 0; i < hidden_dim; ++i) {
        gated[i] = gated[i] / (1 + std::exp(-gated[i])) * gated[hidden_dim + i];
      }
      inputs[row] = gated;
    }
    if (!read_expert(context, packed_w2, expert, w2, "packed_w2", weights)) return;
    products.run(context, weights, inputs.first(count),
                 [&](int64_t row, int64_t output, float product) {
                   const int64_t token = tokens[static_cast<size_t>(row)];
                   results[token * dim + output] += routes[token * num_experts + expert] * product;
                 });
  }
}

}  // namespace

VITRINE_KERNEL(quantized_moe_ffn_out, "llama::quantized_moe_ffn.out", quantized_moe_ffn_out);

}  // namespace vitrine::llm
