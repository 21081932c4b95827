// Mean and variance, accumulated in double in one pass over chunks (Chan, Golub and LeVeque, 1979).
#pragma once

#include <optional>
#include <span>

#include "kernels/util/reduction.h"

namespace vitrine {

struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;  // sum of squared distances from the mean

  // Adds a chunk of `length` values. `length` must be positive.
  template <class T>
  void add(const T* values, int64_t length) {
    const double n = static_cast<double>(length);
    double sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += static_cast<double>(values[i]);
    const double chunk_mean = sum / n;
    double chunk_squares = 0;
    for (int64_t i = 0; i < length; ++i) {
      const double distance = static_cast<double>(values[i]) - chunk_mean;
      chunk_squares += distance * distance;
    }
    if (count == 0) {
      *this = {n, chunk_mean, chunk_squares};
      return;
    }
    const double delta = chunk_mean - mean;
    const double total = count + n;
    mean += delta * (n / total);
    squares += chunk_squares + delta * delta * (count * n / total);
    count = total;
  }
  // Returns squares / (count - correction), or NaN without values. As in PyTorch, a negative
  // divisor becomes 0, and division by 0 gives infinity or NaN.
  double variance(double correction) const;
};

// Mean and variance of `self` over the dimensions in `dims`, or in the bit mask `mask`. The divisor
// of the variance is count - correction. `mean` may be null. All dtypes must be floating.
void variance(KernelContext& context, const Tensor& self,
              std::optional<std::span<const int64_t>> dims, double correction, bool keepdim,
              Tensor* var, Tensor* mean);
void variance(KernelContext& context, const Tensor& self, uint32_t mask, double correction,
              bool keepdim, Tensor* var, Tensor* mean);

}  // namespace vitrine
