// Layer normalisation.
#pragma once

#include <cstdint>
#include <span>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Rows of `row_length` elements one after the other, in input and out; weight and bias (or null) of
// one row's length; mean and rstd of `rows` elements. All row-major and floating.
struct LayerNorm {
  const Tensor& input;
  const Tensor* weight;
  const Tensor* bias;
  double epsilon;
  int64_t rows;
  int64_t row_length;
  Tensor& out;
  Tensor& mean;
  Tensor& rstd;
};

// How rows are normalised. Arguments must be checked before.
using NormalizeRows = void (*)(KernelContext& context, const LayerNorm& arguments);

// For every dtype; statistics in double.
void normalize_rows(KernelContext& context, const LayerNorm& arguments);

// aten::native_layer_norm.out, over any way to compute it.
void layer_norm(KernelContext& context, const Tensor& input,
                std::span<const int64_t> normalized_shape, const Tensor* weight, const Tensor* bias,
                double eps, Tensor& out0, Tensor& out1, Tensor& out2, NormalizeRows normalize);

template <NormalizeRows normalize>
void native_layer_norm_out(KernelContext& context, const Tensor& input,
                           std::span<const int64_t> normalized_shape, const Tensor* weight,
                           const Tensor* bias, double eps, Tensor& out0, Tensor& out1,
                           Tensor& out2) {
  layer_norm(context, input, normalized_shape, weight, bias, eps, out0, out1, out2, normalize);
}

}  // namespace vitrine
