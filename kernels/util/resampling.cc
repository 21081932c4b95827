#include "kernels/util/resampling.h"

#include "kernels/util/checks.h"
#include "kernels/util/pooling.h"

namespace vitrine {

std::optional<Resampling> read_resampling(KernelContext& context, const Tensor& self,
                                          std::optional<std::span<const int64_t>> output_size,
                                          std::optional<std::span<const double>> scale_factors,
                                          Tensor& out) {
  if (!check_rank(context, self, 4, "input") || !check_images(context, self) ||
      !check_dtype(context, out, self.dtype(), "out")) {
    return std::nullopt;
  }
  if (output_size.has_value() == scale_factors.has_value() ||
      (output_size ? output_size->size() : scale_factors->size()) != 2) {
    context.fail(ErrorCode::kInvalidArgument,
                 "expected either output_size or scale_factors, with two numbers");
    return std::nullopt;
  }
  Resampling result;
  for (size_t i = 0; i < 2; ++i) {
    result.input[i] = self.size(2 + i);
    if (output_size) {
      result.output[i] = (*output_size)[i];
    } else {
      const double factor = (*scale_factors)[i];
      const double size = factor * static_cast<double>(result.input[i]);
      const bool fits = factor > 0 && size < 2147483648.0;
      result.output[i] = fits ? static_cast<int64_t>(size) : 0;
      result.factors[i] = factor;
    }
    if (result.output[i] < 1 || result.output[i] > INT32_MAX) {
      context.fail(ErrorCode::kInvalidArgument, "cannot resample %lld elements to %lld",
                   static_cast<long long>(result.input[i]),
                   static_cast<long long>(result.output[i]));
      return std::nullopt;
    }
  }
  if (!resize_images(context, self, result.output, out) || !check_data(context, {&self, &out})) {
    return std::nullopt;
  }
  if (out.numel() == 0) return std::nullopt;  // no images: callers have nothing to do
  return result;
}

std::optional<Resampling> read_nearest_resampling(
    KernelContext& context, const Tensor& self, std::optional<std::span<const int64_t>> output_size,
    std::optional<std::span<const double>> scale_factors, Tensor& out) {
  std::optional<Resampling> result =
      read_resampling(context, self, output_size, scale_factors, out);
  if (!result) return result;
  // PyTorch uses another kernel for small images, and for channels-last images with more than 3
  // channels. This kernel ignores the scale factor in a dimension whose size stays the same or
  // doubles.
  if (out.size(2) + out.size(3) <= 128 || (self.is_channels_last() && self.size(1) > 3)) {
    for (size_t i = 0; i < 2; ++i) {
      const int64_t ratio = result->output[i] / result->input[i];
      const bool is_exact = result->output[i] % result->input[i] == 0;
      if (is_exact && ratio <= 2) result->factors[i].reset();
    }
  }
  return result;
}

}  // namespace vitrine
