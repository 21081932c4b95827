// The linear layers of torchao, which quantize each row of the activations to int8 and multiply the
// row by packed int4 or int8 weights.
#include <array>
#include <limits>

#include "kernels/quantized/affine.h"
#include "kernels/quantized/token_parameters.h"
#include "kernels/util/checks.h"
#include "kernels/util/packed_weights.h"
#include "kernels/util/parallel.h"
#include "vitrine/kernel.h"

namespace vitrine::quantized {

namespace {

struct QuantizedRow {
  float scale;
  int32_t zero_point;
};

QuantizedRow quantize_row(const float* row, int64_t columns, int8_t* values) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < columns; ++i) {
    low = std::min(low, row[i]);
    high = std::max(high, row[i]);
  }
  const TokenParameters chosen = choose_token_parameters(low, high);
  const float inverse = inverse_of(chosen.scale);
  for (int64_t i = 0; i < columns; ++i) {
    values[i] = static_cast<int8_t>(quantize_value(row[i], inverse, chosen.zero_point, -128, 127));
  }
  return {static_cast<float>(chosen.scale), static_cast<int32_t>(chosen.zero_point)};
}

// Shapes: activations [rows, k], packed_weights [bytes], out [rows, n].
void linear(KernelContext& context, const Tensor& activations, const Tensor& packed_weights,
            int64_t group_size, int64_t n, int64_t k, int64_t bits, Tensor& out) {
  constexpr int64_t kRows = PackedWeights::kRows;
  PackedWeights weights;
  if (!check_dtype(context, activations, ScalarType::kFloat, "activations") ||
      !check_rank(context, activations, 2, "activations") ||
      !check_contiguous(context, activations, "activations") ||
      !check_dtype(context, packed_weights, ScalarType::kChar, "packed_weights") ||
      !check_contiguous(context, packed_weights, "packed_weights") ||
      !check_data(context, {&activations, &packed_weights}) ||
      !weights.read(context, packed_weights.raw_data(), packed_weights.nbytes(),
                    {n, k, group_size, bits}, "packed_weights")) {
    return;
  }
  const int32_t rows = activations.size(0);
  if (!check_sizes(context, activations, std::array{rows, static_cast<int32_t>(k)},
                   "activations") ||
      !context.resize(out, std::array{rows, static_cast<int32_t>(n)}) ||
      !check_dtype(context, out, ScalarType::kFloat, "out") ||
      !check_contiguous(context, out, "out") || !check_data(context, {&out}) ||
      !check_no_overlap(context, out, {&activations, &packed_weights})) {
    return;
  }
  auto* const values = static_cast<int8_t*>(context.allocate_temp({rows, k}));
  const auto quantized = context.allocate_temp_array<QuantizedRow>(static_cast<size_t>(rows));
  auto* const scratch =
      static_cast<int8_t*>(context.allocate_temp({worker_count(context), group_size, kRows}));
  if (context.failed()) return;
  parallel(context, rows, work_of({8, rows, k}), [&](int64_t row, int64_t) {
    quantized[static_cast<size_t>(row)] =
        quantize_row(activations.unchecked_data<float>() + row * k, k, values + row * k);
  });
  auto* const results = out.unchecked_mutable_data<float>();
  const int64_t work = work_of({weights.blocks() * kRows, k, int64_t{rows} + 1});
  parallel(context, weights.blocks(), work, [&](int64_t block, int64_t worker) {
    int8_t* const group_values = scratch + worker * group_size * kRows;
    const int64_t outputs = std::min(kRows, n - block * kRows);
    std::array<float, kRows> biases;
    weights.unpack_biases(block, biases.data());
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(biases.data(), outputs, results + row * n + block * kRows);
    }
    for (int64_t group = 0; group < weights.groups(); ++group) {
      std::array<float, kRows> scales;
      weights.unpack(block, group, group_values, scales.data());
      std::array<int32_t, kRows> totals{};  // sums of the weights
      for (int64_t i = 0; i < group_size * kRows; ++i) {
        totals[static_cast<size_t>(i % kRows)] += group_values[i];
      }
      for (int64_t row = 0; row < rows; ++row) {
        std::array<int32_t, kRows> sums{};
        weights.multiply(values + row * k + group * group_size, group_values, sums.data());
        const auto [scale, zero_point] = quantized[static_cast<size_t>(row)];
        float* const result = results + row * n + block * kRows;
        for (size_t i = 0; i < static_cast<size_t>(outputs); ++i) {
          result[i] += scale * scales[i] * static_cast<float>(sums[i] - zero_point * totals[i]);
        }
      }
    }
  });
}

void linear_8bit_act_4bit_weight_out(KernelContext& context, const Tensor& activations,
                                     const Tensor& packed_weights, int64_t group_size, int64_t n,
                                     int64_t k, Tensor& out) {
  linear(context, activations, packed_weights, group_size, n, k, 4, out);
}

void linear_8bit_act_8bit_weight_out(KernelContext& context, const Tensor& activations,
                                     const Tensor& packed_weights, int64_t group_size, int64_t n,
                                     int64_t k, Tensor& out) {
  linear(context, activations, packed_weights, group_size, n, k, 8, out);
}

}  // namespace

VITRINE_KERNEL(linear_8bit_act_4bit_weight_out, "torchao::_linear_8bit_act_4bit_weight.out",
               linear_8bit_act_4bit_weight_out);
VITRINE_KERNEL(linear_8bit_act_8bit_weight_out, "torchao::_linear_8bit_act_8bit_weight.out",
               linear_8bit_act_8bit_weight_out);

}  // namespace vitrine::quantized
