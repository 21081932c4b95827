// p-norms of differences: cdist and pdist.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"

namespace vitrine {

// Both of one floating dtype, out too, and p >= 0 (infinity included).
[[nodiscard]] inline bool check_distance(KernelContext& context, const Tensor& x1, const Tensor& x2,
                                         double p, const Tensor& out) {
  if (!(p >= 0)) {
    context.fail(ErrorCode::kInvalidArgument, "p is %g, not 0 or more", p);
    return false;
  }
  return check_dtype_in<FloatHBF16Types>(context, x1) &&
         check_dtype(context, x2, x1.dtype(), "x2") && check_dtype(context, out, x1.dtype(), "out");
}

// The p-norm of a - b: for p = 0 the number of differences, for infinity the largest.
template <class T>
T distance(const T* a, const T* b, int64_t length, double p) {
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    const double difference = std::fabs(static_cast<double>(static_cast<Compute<T>>(a[i])) -
                                        static_cast<double>(static_cast<Compute<T>>(b[i])));
    if (p == 0) {
      sum += difference != 0 ? 1 : 0;
    } else if (p == 1) {
      sum += difference;
    } else if (p == 2) {
      sum += difference * difference;
    } else if (std::isinf(p)) {
      sum = larger(sum, difference);
    } else {
      sum += std::pow(difference, p);
    }
  }
  const bool has_root = p != 0 && p != 1 && !std::isinf(p);
  const double norm = !has_root ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
  return static_cast<T>(static_cast<Compute<T>>(norm));
}

}  // namespace vitrine
