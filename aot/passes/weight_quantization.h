// Quantizes float matrices like torchao: symmetrically, in groups along the rows.
//
// The results equal torchao's bit for bit (docs/language_models.md), so sums add their terms in the
// order of PyTorch on x86 with AVX2.
#pragma once

#include <cstdint>
#include <span>

#include "aot/graph/tensor_data.h"

namespace vitrine::aot {

enum class ScaleRule : uint8_t {
  // torchao's "hqq_scale_only", which ExecuTorch's export of language models uses, in f32. Starts
  // with max |w| / 2^(bits-1). Then repeats two steps 20 times: quantizes the group, and computes
  // the scale with the least squared error.
  kHqq,
  // torchao's "affine", which its quantize_() uses: max |w| / (2^(bits-1) - 0.5) in the weight's
  // dtype.
  kAffine,
};

struct WeightScheme {
  int bits = 4;       // 2, 4 or 8
  int64_t group = 0;  // number of values in a row that share a scale; 0: the complete row
  ScaleRule scale_rule = ScaleRule::kHqq;
  friend bool operator==(const WeightScheme&, const WeightScheme&) = default;
};

struct QuantizedWeight {
  TensorData values;  // i8 from -2^(bits-1) to 2^(bits-1) - 1, with the sizes of the weight
  TensorData scales;  // [rows, groups], in the dtype of the weight
};

// Throws AotError unless `weight` is an f32, f16 or bf16 matrix of finite values whose row length
// is a multiple of the group size.
QuantizedWeight quantize_weight(const TensorData& weight, const WeightScheme& scheme);

// Packs 2-bit or 4-bit values for quantized_decomposed.embedding_{2,4}bit. The first 2-bit value is
// in the lowest bits, and the first 4-bit value in the highest. Throws AotError if a row does not
// fill whole bytes.
TensorData pack_rows(const TensorData& values, int bits);

// Adds up the values in the order of PyTorch's kernel for contiguous rows.
float torch_sum(std::span<const float> values);

}  // namespace vitrine::aot
