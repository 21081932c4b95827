// PyTorch's type promotion. Exception: 0-d tensors promote like other tensors, because exported
// programs contain explicit conversions. A Scalar changes a tensor's dtype only if the Scalar's
// category (Bool, integer, floating) is higher.
#pragma once

#include <optional>

#include "runtime/core/promotion.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"
#include "vitrine/tensor.h"

namespace vitrine {

std::optional<ScalarType> promote_different(KernelContext& context, ScalarType a, ScalarType b);
// The common dtype of two tensors. Fails the context if no common dtype exists.
[[nodiscard]] inline std::optional<ScalarType> promote(KernelContext& context, const Tensor& a,
                                                       const Tensor& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  return promote_different(context, a.dtype(), b.dtype());
}

// A floating Scalar changes integers and Bool to Float. An integer Scalar changes only Bool, to
// Long.
ScalarType promote(ScalarType tensor, const Scalar& scalar);
inline std::optional<ScalarType> promote(KernelContext&, const Tensor& tensor,
                                         const Scalar& scalar) {
  return promote(tensor.dtype(), scalar);
}

// Floating and complex dtypes stay the same. Other dtypes become Float.
inline ScalarType promote_to_float(ScalarType type) {
  return is_floating(type) || is_complex(type) ? type : ScalarType::kFloat;
}

// True if an output of dtype `to` may store a result of dtype `from`. Real outputs cannot hold
// complex results, integral outputs cannot hold floating results, and Bool outputs cannot hold
// numbers.
bool can_cast(ScalarType from, ScalarType to);

}  // namespace vitrine
