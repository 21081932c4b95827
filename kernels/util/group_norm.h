#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// `input` and `out` are viewed as [parts, rows, channels * plane]. Row r of every part belongs to
// group r. `weight` and `bias` are null or have groups * channels elements. `mean` and `rstd` have
// `rows` elements. All tensors are row-major and floating.
struct GroupNorm {
  const Tensor& input;
  const Tensor* weight;
  const Tensor* bias;
  double epsilon;
  int64_t rows;      // groups in all batches
  int64_t groups;    // groups in one batch
  int64_t channels;  // channels in one group
  int64_t plane;     // elements in one channel
  Tensor& out;
  Tensor& mean;
  Tensor& rstd;
  int64_t parts = 1;

  int64_t part_size() const { return rows * channels * plane; }
};

// Normalizes groups. The caller has checked the arguments.
using NormalizeGroups = void (*)(KernelContext& context, const GroupNorm& arguments);

// Supports any dtype. Computes the statistics in double.
void normalize_groups(KernelContext& context, const GroupNorm& arguments);

// aten::native_group_norm.out, computed by `normalize`.
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
