#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "kernels/util/scatter.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void scatter_add_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& src, Tensor& out) {
  const std::optional<size_t> place = normalize_dim(context, dim, self.rank());
  if (!place || !check_dtype(context, src, self.dtype(), "src") ||
      !check_dtype(context, out, self.dtype(), "out") ||
      !check_scatter_shapes(context, self, *place, index, &src) || !check_data(context, {&src})) {
    return;
  }
  copy_tensor(context, self, out);
  if (context.failed()) return;
  dispatch<RealHBBF16Types>(context, self.dtype(), [&]<class T>() {
    using C = Compute<T>;
    const T* values = src.data<T>();
    T* sums = out.mutable_data<T>();
    each_indexed(context, out, *place, index, at_least_1d(src), [&](int64_t to, int64_t from) {
      sums[to] = T(wrapping_add<C>(C(load(&sums[to])), C(load(&values[from]))));
    });
  });
}

}  // namespace

VITRINE_KERNEL(scatter_add_out, "aten::scatter_add.out", scatter_add_out);

}  // namespace vitrine::portable
