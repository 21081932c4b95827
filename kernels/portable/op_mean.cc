#include <optional>
#include <span>

#include "kernels/util/sum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
struct Mean {
  using In = T;
  using Results = TypeList<T>;
  Sum<T> sum;
  int64_t count = 0;

  void add(std::span<const T> values) {
    sum.add(values);
    count += static_cast<int64_t>(values.size());
  }
  void result(T& mean) const {
    mean = static_cast<T>(sum.total() / static_cast<double>(count));  // NaN of nothing
  }
};

void mean(KernelContext& context, const Tensor& self, uint32_t mask, bool keepdim,
          std::optional<ScalarType> dtype, Tensor& out) {
  if (dtype ? !check_dtype(context, out, *dtype, "out")
            : !check_dtype_in<FloatHBF16Types>(context, self)) {
    return;
  }
  dispatch<FloatTypes>(context, compute_type(out.dtype()), [&]<class T>() {
    reduce(context, Mean<T>{}, {.common = out.dtype()}, self, mask, keepdim, {&out});
  });
}

void mean_out(KernelContext& context, const Tensor& self,
              std::optional<std::span<const int64_t>> dim, bool keepdim,
              std::optional<ScalarType> dtype, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dims(context, self, dim);
  if (mask) mean(context, self, *mask, keepdim, dtype, out);
}

void mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<ScalarType> dtype,
                    Tensor& out) {
  mean(context, self, kAllDims, false, dtype, out);
}

}  // namespace

VITRINE_KERNEL(mean_dtype_out, "aten::mean.dtype_out", mean_dtype_out);
VITRINE_KERNEL(mean_out, "aten::mean.out", mean_out);

}  // namespace vitrine::portable
