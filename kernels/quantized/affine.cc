#include "kernels/quantized/affine.h"

#include <algorithm>
#include <cmath>

#include "kernels/util/checks.h"
#include "kernels/util/convert.h"

namespace vitrine::quantized {

namespace {

constexpr int64_t kChunk = 64;

// UInt16 and Bits16 become Short, because convert_run() does not support them.
ScalarType storage(ScalarType dtype) {
  return dtype == ScalarType::kUInt16 || dtype == ScalarType::kBits16 ? ScalarType::kShort : dtype;
}

bool is_16_bit_unsigned(ScalarType dtype) { return storage(dtype) != dtype; }

const void* element_address(const Tensor& tensor, int64_t index) {
  return tensor.unchecked_data<std::byte>() + index * static_cast<int64_t>(tensor.element_size());
}

// If shape.channels and shape.outer are 1, the dim orders must be equal. Otherwise, both tensors
// must be row-major.
bool check_layout(KernelContext& context, const Tensor& input, const Tensor& out,
                  const ChannelShape& shape) {
  if (shape.channels == 1 && shape.outer == 1) return check_same_dim_order(context, input, out);
  return check_contiguous(context, input, "input") && check_contiguous(context, out, "out");
}

// Calls run(channel, first element, count) for ranges of at most kChunk elements that cover all
// elements.
template <class Run>
void for_each_chunk(const ChannelShape& shape, Run&& run) {
  if (shape.channels == 0 || shape.inner == 0)
    return;  // without elements, the loop over the channels does nothing
  for (int64_t o = 0; o < shape.outer; ++o) {
    for (int64_t c = 0; c < shape.channels; ++c) {
      const int64_t first = (o * shape.channels + c) * shape.inner;
      for (int64_t i = 0; i < shape.inner; i += kChunk) {
        run(c, first + i, std::min(kChunk, shape.inner - i));
      }
    }
  }
}

// `rounded` + zero_point, clamped to [lowest, highest]. The terms are clamped first, so that the
// sum does not overflow.
int32_t shift_and_clamp(double rounded, int64_t zero_point, int64_t lowest, int64_t highest) {
  constexpr int64_t kMaxTerm = int64_t{1} << 40;
  const int64_t shifted = std::clamp(convert<int64_t>(rounded), -kMaxTerm, kMaxTerm) +
                          std::clamp(zero_point, -kMaxTerm, kMaxTerm);
  return static_cast<int32_t>(std::clamp(shifted, lowest, highest));
}

struct QuantizeCall {
  const Tensor& input;
  const Tensor& scales;
  const Tensor& zero_points;
  ChannelShape shape;
  int64_t lowest;
  int64_t highest;
  ScalarType dtype;
};

enum class Shift : uint8_t { kAfterRounding, kBeforeRounding };

// Checks the arguments and quantizes q.input to `out`. Arithmetic is in Real.
template <class Real, Shift shift>
void quantize_in(KernelContext& context, const QuantizeCall& q, Tensor& out) {
  if (!check_dtype_in<FloatHBF16Types>(context, q.input) ||
      !check_quantized(context, q.dtype, q.lowest, q.highest) ||
      !check_dtype(context, out, q.dtype, "out") || !context.resize(out, q.input.sizes()) ||
      !check_layout(context, q.input, out, q.shape) || !check_data(context, {&q.input, &out})) {
    return;
  }
  const auto parameters =
      AffineParameters::make(context, q.scales, &q.zero_points, q.shape.channels, out);
  if (!parameters) return;
  const ConvertRun load = convert_run(q.input.dtype(), scalar_type_of<Real>);
  for_each_chunk(q.shape, [&](int64_t channel, int64_t first, int64_t count) {
    Real reals[kChunk];
    int32_t values[kChunk];
    load(element_address(q.input, first), 1, reals, 1, count);
    const auto inverse = static_cast<Real>(1.0 / parameters->scale(channel));
    const int64_t zero_point = parameters->zero_point(channel);
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (shift == Shift::kAfterRounding) {
        values[i] =
            shift_and_clamp(std::nearbyint(reals[i] * inverse), zero_point, q.lowest, q.highest);
      } else {
        values[i] =
            shift_and_clamp(std::nearbyint(reals[i] * inverse + static_cast<Real>(zero_point)), 0,
                            q.lowest, q.highest);
      }
    }
    store_quantized(values, out, first, count);
  });
}

}  // namespace

std::optional<AffineParameters> AffineParameters::make(KernelContext& context, const Tensor& scales,
                                                       const Tensor* zero_points, int64_t count,
                                                       const Tensor& out) {
  const bool fits = is_floating(scales.dtype()) && scales.numel() == count &&
                    (zero_points == nullptr ||
                     (zero_points->numel() == count && (zero_points->dtype() == ScalarType::kLong ||
                                                        zero_points->dtype() == ScalarType::kInt)));
  if (!fits) {
    context.fail(ErrorCode::kInvalidArgument,
                 "expected %lld floating scales and the same number of i32 or i64 zero points",
                 static_cast<long long>(count));
    return std::nullopt;
  }
  if (!check_data(context, {&scales, zero_points, &out}) ||
      !check_contiguous(context, scales, "scales") ||
      (zero_points != nullptr && !check_contiguous(context, *zero_points, "zero_points")) ||
      !check_no_overlap(context, out, {&scales, zero_points})) {
    return std::nullopt;
  }
  AffineParameters parameters;
  parameters.scales_ = &scales;
  parameters.zero_points_ = zero_points;
  return parameters;
}

double AffineParameters::scale(int64_t channel) const {
  double value = 0;
  convert_run(scales_->dtype(), ScalarType::kDouble)(element_address(*scales_, channel), 1, &value,
                                                     1, 1);
  return value;
}

int64_t AffineParameters::zero_point(int64_t channel) const {
  int64_t value = 0;
  if (zero_points_ != nullptr) {
    convert_run(zero_points_->dtype(), ScalarType::kLong)(element_address(*zero_points_, channel),
                                                          1, &value, 1, 1);
  }
  return value;
}

bool check_quantized(KernelContext& context, ScalarType dtype, int64_t lowest, int64_t highest) {
  struct Range {
    ScalarType dtype;
    int64_t lowest;
    int64_t highest;
  };
  static constexpr Range kRanges[] = {
      {ScalarType::kByte, 0, UINT8_MAX},          {ScalarType::kChar, INT8_MIN, INT8_MAX},
      {ScalarType::kShort, INT16_MIN, INT16_MAX}, {ScalarType::kInt, INT32_MIN, INT32_MAX},
      {ScalarType::kUInt16, 0, UINT16_MAX},       {ScalarType::kBits16, 0, UINT16_MAX},
  };
  const auto* range = std::ranges::find(kRanges, dtype, &Range::dtype);
  if (range != std::end(kRanges) && range->lowest <= lowest && lowest <= highest &&
      highest <= range->highest) {
    return true;
  }
  context.fail(ErrorCode::kInvalidArgument,
               "dtype %s cannot hold quantized values from %lld to %lld", scalar_type_name(dtype),
               static_cast<long long>(lowest), static_cast<long long>(highest));
  return false;
}

void load_quantized(const Tensor& tensor, int64_t offset, int64_t count, int32_t* values) {
  convert_run(storage(tensor.dtype()), ScalarType::kInt)(element_address(tensor, offset), 1, values,
                                                         1, count);
  if (!is_16_bit_unsigned(tensor.dtype())) return;
  for (int64_t i = 0; i < count; ++i) values[i] &= 0xffff;
}

void store_quantized(const int32_t* values, Tensor& tensor, int64_t offset, int64_t count) {
  convert_run(ScalarType::kInt, storage(tensor.dtype()))(
      values, 1,
      tensor.unchecked_mutable_data<std::byte>() +
          offset * static_cast<int64_t>(tensor.element_size()),
      1, count);
}

int32_t quantize_value(float value, float inverse_scale, int64_t zero_point, int64_t lowest,
                       int64_t highest) {
  return shift_and_clamp(std::nearbyint(value * inverse_scale), zero_point, lowest, highest);
}

ChannelShape per_tensor(const Tensor& tensor) { return {1, 1, tensor.numel()}; }

ChannelShape per_channel(const Tensor& tensor, size_t axis) {
  return {size_product(tensor, 0, axis), size_at(tensor, axis),
          size_product(tensor, axis + 1, tensor.rank())};
}

ChannelShape per_token(const Tensor& tensor) {
  const size_t last = tensor.rank() == 0 ? 0 : tensor.rank() - 1;
  return {1, size_product(tensor, 0, last), size_at(tensor, last)};
}

void quantize(KernelContext& context, const Tensor& input, const Tensor& scales,
              const Tensor& zero_points, const ChannelShape& shape, int64_t lowest, int64_t highest,
              ScalarType dtype, Tensor& out) {
  const QuantizeCall arguments{input, scales, zero_points, shape, lowest, highest, dtype};
  if (input.dtype() == ScalarType::kDouble) {
    return quantize_in<double, Shift::kAfterRounding>(context, arguments, out);
  }
  quantize_in<float, Shift::kAfterRounding>(context, arguments, out);
}

void quantize_tokens(KernelContext& context, const Tensor& input, const Tensor& scales,
                     const Tensor& zero_points, int64_t lowest, int64_t highest, ScalarType dtype,
                     Tensor& out) {
  const QuantizeCall arguments{input,  scales,  zero_points, per_token(input),
                               lowest, highest, dtype};
  if (input.dtype() == ScalarType::kDouble || scales.dtype() == ScalarType::kDouble) {
    return quantize_in<double, Shift::kBeforeRounding>(context, arguments, out);
  }
  quantize_in<float, Shift::kBeforeRounding>(context, arguments, out);
}

void dequantize(KernelContext& context, const Tensor& input, const Tensor& scales,
                const Tensor* zero_points, const ChannelShape& shape, int64_t lowest,
                int64_t highest, ScalarType dtype, std::optional<ScalarType> out_dtype,
                Tensor& out) {
  if (!check_quantized(context, dtype, lowest, highest) ||
      !check_dtype(context, input, dtype, "input") ||
      !check_dtype_in<FloatHBF16Types>(context, out) ||
      (out_dtype && !check_dtype(context, out, *out_dtype, "out")) ||
      !context.resize(out, input.sizes()) || !check_layout(context, input, out, shape) ||
      !check_data(context, {&input, &out})) {
    return;
  }
  const auto parameters = AffineParameters::make(context, scales, zero_points, shape.channels, out);
  if (!parameters) return;
  const bool wide = out.dtype() == ScalarType::kDouble;
  const ConvertRun store = convert_run(ScalarType::kDouble, out.dtype());
  for_each_chunk(shape, [&](int64_t channel, int64_t first, int64_t count) {
    int32_t values[kChunk];
    double reals[kChunk];
    load_quantized(input, first, count, values);
    const double scale = parameters->scale(channel);
    const double zero_point = static_cast<double>(parameters->zero_point(channel));
    for (int64_t i = 0; i < count; ++i) {
      const double shifted = static_cast<double>(values[i]) - zero_point;
      reals[i] = wide
                     ? shifted * scale
                     : static_cast<double>(static_cast<float>(shifted) * static_cast<float>(scale));
    }
    store(
        reals, 1,
        out.unchecked_mutable_data<std::byte>() + first * static_cast<int64_t>(out.element_size()),
        1, count);
  });
}

}  // namespace vitrine::quantized
