// Group normalisation.
#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Rows of channels * plane elements one after the other, in input and out; weight and bias (or
// null) of groups * channels elements; mean and rstd of `rows` elements. All row-major and
// floating.
struct GroupNorm {
  const Tensor& input;
  const Tensor* weight;
  const Tensor* bias;
  double epsilon;
  int64_t rows;      // groups of all batches
  int64_t groups;    // of one batch
  int64_t channels;  // of one group
  int64_t plane;     // elements of one channel
  Tensor& out;
  Tensor& mean;
  Tensor& rstd;
};

// How groups are normalised. Arguments must be checked before.
using NormalizeGroups = void (*)(KernelContext& context, const GroupNorm& arguments);

// For every dtype; statistics in double.
void normalize_groups(KernelContext& context, const GroupNorm& arguments);

// aten::native_group_norm.out, over any way to compute it.
void group_norm(KernelContext& context, const Tensor& input, const Tensor* weight,
                const Tensor* bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
                Tensor& out0, Tensor& out1, Tensor& out2, NormalizeGroups normalize);

template <NormalizeGroups normalize>
void native_group_norm_out(KernelContext& context, const Tensor& input, const Tensor* weight,
                           const Tensor* bias, int64_t N, int64_t C, int64_t HxW, int64_t group,
                           double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  group_norm(context, input, weight, bias, N, C, HxW, group, eps, out0, out1, out2, normalize);
}

}  // namespace vitrine
