#pragma once

#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"

namespace vitrine {

// Fails with InvalidArgument if out's dtype is not REALHBBF16 or cannot hold the value.
void fill(KernelContext& context, const Scalar& value, Tensor& out);

}  // namespace vitrine
