#include "kernels/optimized/simd/quantize.h"
#include "kernels/optimized/take_over.h"
#include "kernels/quantized/affine.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

using quantized::AffineParameters;
using quantized::ChannelShape;

constexpr int64_t kMaxZeroPoint = int64_t{1} << 20;

bool is_byte(ScalarType dtype) { return dtype == ScalarType::kByte || dtype == ScalarType::kChar; }

// True if this file supports the dtypes, the layouts, and the range [lowest, highest] of quantized
// numbers. `real` is the Float tensor, and `bytes` is the quantized tensor.
bool is_supported(const Tensor& real, const Tensor& bytes, ScalarType dtype,
                  const ChannelShape& shape, int64_t lowest, int64_t highest) {
  const int64_t dtype_min = dtype == ScalarType::kByte ? 0 : INT8_MIN;
  const int64_t dtype_max = dtype == ScalarType::kByte ? UINT8_MAX : INT8_MAX;
  const bool per_tensor = shape.outer == 1 && shape.channels == 1;
  return real.dtype() == ScalarType::kFloat && is_byte(dtype) && bytes.dtype() == dtype &&
         lowest >= dtype_min && highest <= dtype_max && lowest <= highest &&
         real.rank() == bytes.rank() &&
         (per_tensor ? real.same_dim_order(bytes) : real.is_contiguous() && bytes.is_contiguous());
}

bool zero_points_fit(const AffineParameters& parameters, int64_t channels) {
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t zero_point = parameters.zero_point(c);
    if (zero_point < -kMaxZeroPoint || zero_point > kMaxZeroPoint) return false;
  }
  return true;
}

// Calls run(channel, first element, count) for ranges that cover all elements. A range is within
// one channel.
template <class Run>
void for_each_part(KernelContext& context, const ChannelShape& shape, Run&& run) {
  if (shape.inner == 0) return;  // without elements, the loop over the channels does nothing
  if (shape.outer * shape.channels == 1) {
    parallel_ranges(context, shape.inner, kGrain, 5,
                    [&](int64_t begin, int64_t end) { run(int64_t{0}, begin, end - begin); });
    return;
  }
  parallel_ranges(context, shape.outer * shape.channels, 1, 5 * shape.inner,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t line = begin; line < end; ++line) {
                      run(line % shape.channels, line * shape.inner, shape.inner);
                    }
                  });
}

bool quantize_bytes(KernelContext& context, const Tensor& input, const Tensor& scales,
                    const Tensor& zero_points, const ChannelShape& shape, int64_t lowest,
                    int64_t highest, ScalarType dtype, Tensor& out) {
  if (!is_supported(input, out, dtype, shape, lowest, highest)) return false;
  if (!context.resize(out, input.sizes())) return true;  // the context has failed
  const auto parameters =
      AffineParameters::make(context, scales, &zero_points, shape.channels, out);
  if (!parameters) return true;
  if (!zero_points_fit(*parameters, shape.channels)) return false;
  for_each_part(context, shape, [&](int64_t channel, int64_t first, int64_t count) {
    simd::quantize(input.unchecked_data<float>() + first,
                   {quantized::inverse_of(parameters->scale(channel)),
                    static_cast<int32_t>(parameters->zero_point(channel)),
                    static_cast<int32_t>(lowest), static_cast<int32_t>(highest)},
                   out.unchecked_mutable_data<uint8_t>() + first, count);
  });
  return true;
}

bool dequantize_bytes(KernelContext& context, const Tensor& input, const Tensor& scales,
                      const Tensor* zero_points, const ChannelShape& shape, int64_t lowest,
                      int64_t highest, ScalarType dtype, std::optional<ScalarType> out_dtype,
                      Tensor& out) {
  if (!is_supported(out, input, dtype, shape, lowest, highest) ||
      (out_dtype && *out_dtype != ScalarType::kFloat)) {
    return false;
  }
  if (!context.resize(out, input.sizes())) return true;
  const auto parameters = AffineParameters::make(context, scales, zero_points, shape.channels, out);
  if (!parameters) return true;
  if (!zero_points_fit(*parameters, shape.channels)) return false;
  for_each_part(context, shape, [&](int64_t channel, int64_t first, int64_t count) {
    const auto scale = static_cast<float>(parameters->scale(channel));
    const auto zero_point = static_cast<int32_t>(parameters->zero_point(channel));
    float* const to = out.unchecked_mutable_data<float>() + first;
    if (dtype == ScalarType::kByte) {
      simd::dequantize(input.unchecked_data<uint8_t>() + first, zero_point, scale, to, count);
    } else {
      simd::dequantize(input.unchecked_data<int8_t>() + first, zero_point, scale, to, count);
    }
  });
  return true;
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(dequantize_per_channel_out,
                         "quantized_decomposed::dequantize_per_channel.out",
                         quantized::dequantize_per_channel_out<dequantize_bytes>, quantized)
VITRINE_OPTIMIZED_KERNEL(dequantize_per_tensor_Tensor_out,
                         "quantized_decomposed::dequantize_per_tensor.Tensor_out",
                         quantized::dequantize_per_tensor_Tensor_out<dequantize_bytes>, quantized)
VITRINE_OPTIMIZED_KERNEL(dequantize_per_tensor_out,
                         "quantized_decomposed::dequantize_per_tensor.out",
                         quantized::dequantize_per_tensor_out<dequantize_bytes>, quantized)
VITRINE_OPTIMIZED_KERNEL(dequantize_per_token_out, "quantized_decomposed::dequantize_per_token.out",
                         quantized::dequantize_per_token_out<dequantize_bytes>, quantized)
VITRINE_OPTIMIZED_KERNEL(quantize_per_channel_out, "quantized_decomposed::quantize_per_channel.out",
                         quantized::quantize_per_channel_out<quantize_bytes>, quantized)
VITRINE_OPTIMIZED_KERNEL(quantize_per_tensor_Tensor_out,
                         "quantized_decomposed::quantize_per_tensor.Tensor_out",
                         quantized::quantize_per_tensor_Tensor_out<quantize_bytes>, quantized)
VITRINE_OPTIMIZED_KERNEL(quantize_per_tensor_out, "quantized_decomposed::quantize_per_tensor.out",
                         quantized::quantize_per_tensor_out<quantize_bytes>, quantized)
