// Affine quantisation: real = (quantised - zero point) * scale, with one pair of parameters for a
// tensor or one for each of its channels. Arithmetic is in float, as PyTorch's
// quantized_decomposed operators do it.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::quantized {

// Scales (floating) and zero points (Int or Long; null: all zero) of `count` channels.
class AffineParameters {
 public:
  // Fails on other dtypes, other counts, or without memory. Parameters are read again after
  // elements of `out` are written, so it fails as well if `out`, which has its shape, lies in their
  // memory.
  static std::optional<AffineParameters> make(KernelContext& context, const Tensor& scales,
                                              const Tensor* zero_points, int64_t count,
                                              const Tensor& out);

  double scale(int64_t channel) const;
  int64_t zero_point(int64_t channel) const;

 private:
  const Tensor* scales_ = nullptr;
  const Tensor* zero_points_ = nullptr;
};

// Quantised values: Byte, Char, Short, Int, UInt16 or Bits16. Fails on another dtype, or if
// [lowest, highest] is not within it.
[[nodiscard]] bool check_quantized(KernelContext& context, ScalarType dtype, int64_t lowest,
                                   int64_t highest);

// A run of quantised elements to and from int32; `offset` and `count` in elements.
void load_quantized(const Tensor& tensor, int64_t offset, int64_t count, int32_t* values);
void store_quantized(const int32_t* values, Tensor& tensor, int64_t offset, int64_t count);

// What values are multiplied by. PyTorch divides in double, which is a place in float away from
// 1.0f / float(scale) now and then: enough to go wrong where values are near ties of 16 bits.
inline float inverse_of(double scale) { return static_cast<float>(1.0 / scale); }

// Rounds to nearest, ties to even. Values beyond int64 saturate; NaN becomes zero.
int32_t quantize_value(float value, float inverse_scale, int64_t zero_point, int64_t lowest,
                       int64_t highest);

// A tensor as [outer, channels, inner] with separate parameters for each channel.
struct ChannelShape {
  int64_t outer;
  int64_t channels;
  int64_t inner;
};
ChannelShape whole(const Tensor& tensor);
ChannelShape along(const Tensor& tensor, size_t axis);
// Every row of the last dimension is a channel.
ChannelShape by_token(const Tensor& tensor);

// out = quantised input, of dtype `dtype`, which is out's. Resizes `out`.
void quantize(KernelContext& context, const Tensor& input, const Tensor& scales,
              const Tensor& zero_points, const ChannelShape& shape, int64_t lowest, int64_t highest,
              ScalarType dtype, Tensor& out);

// The same for rows of the last dimension, as PyTorch does it there: zero points are added before
// rounding (ties fall otherwise), and with scales in double all is in double.
void quantize_tokens(KernelContext& context, const Tensor& input, const Tensor& scales,
                     const Tensor& zero_points, int64_t lowest, int64_t highest, ScalarType dtype,
                     Tensor& out);

// out = real values of input, of dtype `dtype`; `out_dtype`, if given, is out's. Resizes `out`.
void dequantize(KernelContext& context, const Tensor& input, const Tensor& scales,
                const Tensor* zero_points, const ChannelShape& shape, int64_t lowest,
                int64_t highest, ScalarType dtype, std::optional<ScalarType> out_dtype,
                Tensor& out);

// --- The operators, over any way to quantise: one with the parameters of quantize() and
// dequantize(). It gives nothing, or whether it took over from another kernel (bool). ---

template <auto quantize>
auto quantize_per_tensor_Tensor_out(KernelContext& context, const Tensor& input,
                                    const Tensor& scale, const Tensor& zero_point,
                                    int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                    Tensor& out) {
  return quantize(context, input, scale, zero_point, whole(input), quant_min, quant_max, dtype,
                  out);
}

template <auto quantize>
auto quantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale,
                             int64_t zero_point, int64_t quant_min, int64_t quant_max,
                             ScalarType dtype, Tensor& out) {
  return quantize_per_tensor_Tensor_out<quantize>(context, input, ScalarElement(scale).tensor(),
                                                  ScalarElement(zero_point).tensor(), quant_min,
                                                  quant_max, dtype, out);
}

template <auto quantize>
auto quantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                              const Tensor& zero_points, int64_t axis, int64_t quant_min,
                              int64_t quant_max, ScalarType dtype, Tensor& out) {
  const std::optional<size_t> dim = normalize_dim(context, axis, input.rank());
  using Result = decltype(quantize(context, input, scales, zero_points, whole(input), quant_min,
                                   quant_max, dtype, out));
  if (!dim) return Result(true);  // the context has failed
  return quantize(context, input, scales, zero_points, along(input, *dim), quant_min, quant_max,
                  dtype, out);
}

template <auto dequantize>
auto dequantize_per_tensor_Tensor_out(KernelContext& context, const Tensor& input,
                                      const Tensor& scale, const Tensor& zero_point,
                                      int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                      std::optional<ScalarType> out_dtype, Tensor& out) {
  return dequantize(context, input, scale, &zero_point, whole(input), quant_min, quant_max, dtype,
                    out_dtype, out);
}

template <auto dequantize>
auto dequantize_per_tensor_out(KernelContext& context, const Tensor& input, double scale,
                               int64_t zero_point, int64_t quant_min, int64_t quant_max,
                               ScalarType dtype, std::optional<ScalarType> out_dtype, Tensor& out) {
  return dequantize_per_tensor_Tensor_out<dequantize>(context, input, ScalarElement(scale).tensor(),
                                                      ScalarElement(zero_point).tensor(), quant_min,
                                                      quant_max, dtype, out_dtype, out);
}

template <auto dequantize>
auto dequantize_per_channel_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                                const Tensor* zero_points, int64_t axis, int64_t quant_min,
                                int64_t quant_max, ScalarType dtype,
                                std::optional<ScalarType> out_dtype, Tensor& out) {
  const std::optional<size_t> dim = normalize_dim(context, axis, input.rank());
  using Result = decltype(dequantize(context, input, scales, zero_points, whole(input), quant_min,
                                     quant_max, dtype, out_dtype, out));
  if (!dim) return Result(true);  // the context has failed
  return dequantize(context, input, scales, zero_points, along(input, *dim), quant_min, quant_max,
                    dtype, out_dtype, out);
}

template <auto dequantize>
auto dequantize_per_token_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                              const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                              ScalarType dtype, ScalarType output_dtype, Tensor& out) {
  return dequantize(context, input, scales, &zero_points, by_token(input), quant_min, quant_max,
                    dtype, output_dtype, out);
}

}  // namespace vitrine::quantized
