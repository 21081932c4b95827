#pragma once

#include "kernels/util/group_norm.h"
#include "vitrine/kernel_context.h"

namespace vitrine {

struct BatchNormArguments {
  const Tensor& input;     // [N, C, ...], floating, any dim order
  const Tensor* weight;    // [C]; null means 1
  const Tensor* bias;      // [C]; null means 0
  const Tensor& mean;      // [C]
  const Tensor& variance;  // [C]
  double epsilon;
};

// Computes out = input * scale + shift in the dtype of scale and shift. Both broadcast to the
// input's shape. Resizes `out`.
using ScaleAndShift = void (*)(KernelContext& context, const Tensor& input, const Tensor& scale,
                               const Tensor& shift, Tensor& out);
void scale_and_shift(KernelContext& context, const Tensor& input, const Tensor& scale,
                     const Tensor& shift, Tensor& out);

// Computes out = (input - mean) / sqrt(variance + epsilon) * weight + bias per channel.
void batch_norm(KernelContext& context, const BatchNormArguments& arguments, Tensor& out,
                ScaleAndShift apply = scale_and_shift);
// The operator aten::_native_batch_norm_legit_no_training.out. `apply` computes `out`.
void batch_norm_no_training(KernelContext& context, const BatchNormArguments& arguments,
                            Tensor& out, Tensor& save_mean, Tensor& save_invstd,
                            ScaleAndShift apply);

// Normalizes with the mean and variance of the batch itself. Writes the mean to save_mean [C], and
// 1 / sqrt(variance + epsilon) to save_invstd [C]. `normalize` computes the results if `input` and
// `out` are row-major and `input` is not empty.
void batch_norm_of_batch(KernelContext& context, const Tensor& input, const Tensor* weight,
                         const Tensor* bias, double epsilon, Tensor& out, Tensor& save_mean,
                         Tensor& save_invstd, NormalizeGroups normalize);

// The operator aten::_native_batch_norm_legit.no_stats_out.
template <NormalizeGroups normalize>
void batch_norm_no_stats_out(KernelContext& context, const Tensor& input, const Tensor* weight,
                             const Tensor* bias, bool /*training*/, double /*momentum*/, double eps,
                             Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  batch_norm_of_batch(context, input, weight, bias, eps, out, save_mean, save_invstd, normalize);
}

}  // namespace vitrine
