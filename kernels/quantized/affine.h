// Affine quantization: real = (quantized - zero point) * scale, with parameters for a tensor or for
// each of its channels. Arithmetic is in float, as in PyTorch's quantized_decomposed operators.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine::quantized {

// The floating scales and the Int or Long zero points of `count` channels. If `zero_points` is
// null, all zero points are zero.
class AffineParameters {
 public:
  // Fails if `scales` or `zero_points` has the wrong dtype or number of elements, is not row-major,
  // has no memory, or overlaps `out`. `out` must have its final shape.
  static std::optional<AffineParameters> make(KernelContext& context, const Tensor& scales,
                                              const Tensor* zero_points, int64_t count,
                                              const Tensor& out);

  double scale(int64_t channel) const;
  int64_t zero_point(int64_t channel) const;

 private:
  const Tensor* scales_ = nullptr;
  const Tensor* zero_points_ = nullptr;
};

// Fails unless `dtype` is Byte, Char, Short, Int, UInt16 or Bits16 and can hold [lowest, highest].
[[nodiscard]] bool check_quantized(KernelContext& context, ScalarType dtype, int64_t lowest,
                                   int64_t highest);

// Convert quantized elements to and from int32. `offset` and `count` are in elements.
void load_quantized(const Tensor& tensor, int64_t offset, int64_t count, int32_t* values);
void store_quantized(const int32_t* values, Tensor& tensor, int64_t offset, int64_t count);

// 1 / scale, divided in double as in PyTorch. 1.0f / float(scale) can differ in the last bit.
inline float inverse_of(double scale) { return static_cast<float>(1.0 / scale); }

// Rounds to nearest, ties to even. Values beyond int64 saturate. NaN becomes 0.
int32_t quantize_value(float value, float inverse_scale, int64_t zero_point, int64_t lowest,
                       int64_t highest);

// A tensor viewed as [outer, channels, inner], with parameters for each channel.
struct ChannelShape {
  int64_t outer;
  int64_t channels;
  int64_t inner;
};
ChannelShape per_tensor(const Tensor& tensor);
ChannelShape per_channel(const Tensor& tensor, size_t axis);
// Every row of the last dimension is a channel.
ChannelShape per_token(const Tensor& tensor);

// Quantizes `input` to `dtype`, which must be the dtype of `out`. Resizes `out`.
void quantize(KernelContext& context, const Tensor& input, const Tensor& scales,
              const Tensor& zero_points, const ChannelShape& shape, int64_t lowest, int64_t highest,
              ScalarType dtype, Tensor& out);

// Quantizes with parameters for each row of the last dimension. As in PyTorch, zero points are
// added before rounding. Arithmetic is in double if the scales are double.
void quantize_tokens(KernelContext& context, const Tensor& input, const Tensor& scales,
                     const Tensor& zero_points, int64_t lowest, int64_t highest, ScalarType dtype,
                     Tensor& out);

// Dequantizes `input`, whose dtype must be `dtype`. `out_dtype`, if given, must be the dtype of
// `out`. Resizes `out`.
void dequantize(KernelContext& context, const Tensor& input, const Tensor& scales,
                const Tensor* zero_points, const ChannelShape& shape, int64_t lowest,
                int64_t highest, ScalarType dtype, std::optional<ScalarType> out_dtype,
                Tensor& out);

// The operators below call their template argument, which has the parameters of quantize() or
// dequantize(). In optimized kernels, this function returns false for unsupported arguments.
template <auto quantize>
auto quantize_per_tensor_Tensor_out(KernelContext& context, const Tensor& input,
                                    const Tensor& scale, const Tensor& zero_point,
                                    int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                    Tensor& out) {
  return quantize(context, input, scale, zero_point, per_tensor(input), quant_min, quant_max, dtype,
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
  using Result = decltype(quantize(context, input, scales, zero_points, per_tensor(input),
                                   quant_min, quant_max, dtype, out));
  if (!dim) return Result(true);  // the context has failed
  return quantize(context, input, scales, zero_points, per_channel(input, *dim), quant_min,
                  quant_max, dtype, out);
}

template <auto dequantize>
auto dequantize_per_tensor_Tensor_out(KernelContext& context, const Tensor& input,
                                      const Tensor& scale, const Tensor& zero_point,
                                      int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                      std::optional<ScalarType> out_dtype, Tensor& out) {
  return dequantize(context, input, scale, &zero_point, per_tensor(input), quant_min, quant_max,
                    dtype, out_dtype, out);
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
  using Result = decltype(dequantize(context, input, scales, zero_points, per_tensor(input),
                                     quant_min, quant_max, dtype, out_dtype, out));
  if (!dim) return Result(true);  // the context has failed
  return dequantize(context, input, scales, zero_points, per_channel(input, *dim), quant_min,
                    quant_max, dtype, out_dtype, out);
}

template <auto dequantize>
auto dequantize_per_token_out(KernelContext& context, const Tensor& input, const Tensor& scales,
                              const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                              ScalarType dtype, ScalarType output_dtype, Tensor& out) {
  return dequantize(context, input, scales, &zero_points, per_token(input), quant_min, quant_max,
                    dtype, output_dtype, out);
}

}  // namespace vitrine::quantized
