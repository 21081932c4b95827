#include "kernels/util/checks.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void where_out(KernelContext& context, const Tensor& condition, const Tensor& self,
               const Tensor& other, Tensor& out) {
  if (!check_dtype_in<TypeList<bool, uint8_t>>(context, condition)) return;
  const std::optional<ScalarType> common = promote(context, self, other);
  if (!common) return;
  dispatch<RealBTypes>(context, compute_type(*common), [&]<class T>() {
    elementwise<T, bool, T, T>(context, *common, {&condition, &self, &other}, out,
                               [](bool chosen, T a, T b) { return chosen ? a : b; });
  });
}

}  // namespace

VITRINE_KERNEL(where_self_out, "aten::where.self_out", where_out);

}  // namespace vitrine::portable
