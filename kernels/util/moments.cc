#include "kernels/util/moments.h"

#include <algorithm>
#include <limits>

namespace vitrine {

namespace {

template <class T>
struct Variance {
  using In = T;
  using Results = TypeList<double, double>;
  double correction;
  Moments moments{};

  void add(std::span<const T> values) {
    moments.add(values.data(), static_cast<int64_t>(values.size()));
  }
  void result(double& variance, double& mean) const {
    variance = moments.variance(correction);
    mean = moments.count > 0 ? moments.mean : std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace

double Moments::variance(double correction) const {
  if (!(count > 0)) return std::numeric_limits<double>::quiet_NaN();
  return squares / std::max(count - correction, 0.0);
}

void variance(KernelContext& context, const Tensor& self, uint32_t mask, double correction,
              bool keepdim, Tensor* var, Tensor* mean) {
  if (!check_dtype_in<FloatHBF16Types>(context, self)) return;
  for (Tensor* out : {var, mean}) {
    if (out != nullptr && !check_dtype_in<FloatHBF16Types>(context, *out)) return;
  }
  dispatch<FloatTypes>(context, compute_type(self.dtype()), [&]<class T>() {
    reduce(context, Variance<T>{correction}, {.common = self.dtype()}, self, mask, keepdim,
           {var, mean});
  });
}

void variance(KernelContext& context, const Tensor& self,
              std::optional<std::span<const int64_t>> dims, double correction, bool keepdim,
              Tensor* var, Tensor* mean) {
  const std::optional<uint32_t> mask = reduced_dims(context, self, dims);
  if (mask) variance(context, self, *mask, correction, keepdim, var, mean);
}

}  // namespace vitrine
