// softmax and its logarithm.
#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"

namespace vitrine {

// out = exp(self - max) / sum(exp(self - max)) along `dim`, or the logarithm of that. Floating
// dtypes other than Half and BFloat16 are computed in themselves, these in float. With
// `half_to_float` self is Half and out is Float, otherwise they are of one dtype.
void softmax(KernelContext& context, const Tensor& self, int64_t dim, bool half_to_float,
             bool logarithm, Tensor& out);

}  // namespace vitrine
