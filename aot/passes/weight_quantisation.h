// Float matrices as torchao quantises them: symmetric, by groups along the rows, to 2, 4 or 8 bits.
//
// The results are torchao's bit for bit (docs/language_models.md): the arithmetic of scales is in
// f32, in the order in which PyTorch sums on x86 with AVX2.
#pragma once

#include <cstdint>
#include <span>

#include "aot/graph/tensor_data.h"

namespace vitrine::aot {

// How a group's scale is found.
enum class ScaleRule : uint8_t {
  // torchao's "hqq_scale_only", of ExecuTorch's export of language models: from max |w| /
  // 2^(bits-1)
  // on, 20 steps of quantising and taking the scale that is the least squares' best for that.
  kHqq,
  // torchao's "affine", of its quantize_(): max |w| / (2^(bits-1) - 0.5), in the weight's dtype.
  kAffine,
};

struct WeightScheme {
  int bits = 4;       // 2, 4 or 8
  int64_t group = 0;  // values of a row that share a scale; 0: the row
  ScaleRule scale_rule = ScaleRule::kHqq;
  friend bool operator==(const WeightScheme&, const WeightScheme&) = default;
};

struct QuantisedWeight {
  TensorData values;  // i8, as the weight, of -2^(bits-1) to 2^(bits-1) - 1
  TensorData scales;  // [rows, groups], of the weight's dtype
};

// `weight` is f32, f16 or bf16 of two dims, and the group divides its rows. AotErrors say which of
// this does not hold, and that a value is infinite or no number.
QuantisedWeight quantise_weight(const TensorData& weight, const WeightScheme& scheme);

// i8 values of 2 or 4 bits -> bytes, as the operators quantized_decomposed.embedding_{2,4}bit read
// them: 2 bits from the lowest on, 4 from the highest. AotError if rows do not fill bytes.
TensorData pack_rows(const TensorData& values, int bits);

// The sum of the values as PyTorch's kernel for contiguous rows has it.
float torch_sum(std::span<const float> values);

}  // namespace vitrine::aot
