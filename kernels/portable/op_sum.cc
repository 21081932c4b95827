#include <optional>
#include <span>

#include "kernels/util/sum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Leaves NaN out.
template <class T>
struct SumOfNumbers : Sum<T> {
  void add(std::span<const T> values) {
    for (const T value : values) {
      if (value == value) this->lanes[0] = Sum<T>::plus(this->lanes[0], value);
    }
  }
};

template <template <class> class Reduction>
void sum(KernelContext& context, const Tensor& self, std::optional<std::span<const int64_t>> dim,
         bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dims(context, self, dim);
  if (!mask || (dtype && !check_dtype(context, out, *dtype, "out"))) return;
  const ScalarType type = out.dtype();
  dispatch<SumTypes>(context, sum_type(type), [&]<class T>() {
    reduce(context, Reduction<T>{}, {.common = type}, self, *mask, keepdim, {&out});
  });
}

}  // namespace

VITRINE_KERNEL(sum_IntList_out, "aten::sum.IntList_out", sum<Sum>);
VITRINE_KERNEL(nansum_out, "aten::nansum.out", sum<SumOfNumbers>);

}  // namespace vitrine::portable
