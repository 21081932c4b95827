#include <optional>

#include "kernels/util/arithmetic.h"
#include "kernels/util/sum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class T>
struct Product {
  using In = T;
  using Results = TypeList<T>;
  T product = T(1);

  void add(std::span<const T> values) {
    for (const T& value : values) product = wrapping_mul(product, value);
  }
  void result(T& out) const { out = product; }
};

void prod(KernelContext& context, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
          std::optional<ScalarType> dtype, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (!mask || (dtype && !check_dtype(context, out, *dtype, "out"))) return;
  const ScalarType type = out.dtype();
  dispatch<SumTypes>(context, sum_type(type), [&]<class T>() {
    reduce(context, Product<T>{}, {.common = type}, self, *mask, keepdim, {&out});
  });
}

void prod_int_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                  std::optional<ScalarType> dtype, Tensor& out) {
  prod(context, self, dim, keepdim, dtype, out);
}

void prod_out(KernelContext& context, const Tensor& self, std::optional<ScalarType> dtype,
              Tensor& out) {
  prod(context, self, std::nullopt, false, dtype, out);
}

}  // namespace

VITRINE_KERNEL(prod_int_out, "aten::prod.int_out", prod_int_out);
VITRINE_KERNEL(prod_out, "aten::prod.out", prod_out);

}  // namespace vitrine::portable
