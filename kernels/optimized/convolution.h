// Convolutions in float on all threads; other dtypes go to the portable one.
#pragma once

#include "kernels/util/convolution.h"

namespace vitrine::optimized {

// A Convolve.
void convolve(KernelContext& context, const Convolution& convolution);

}  // namespace vitrine::optimized
