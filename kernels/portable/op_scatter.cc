#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "kernels/util/scatter.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// out = self with src's elements, laid out as `src_layout`, at the places that `index` names.
void scatter(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
             const Tensor& src, const Layout& src_layout, Tensor& out) {
  const auto mover = ElementMover::make(context, src.dtype(), out.dtype());
  if (!mover || !check_dtype(context, out, self.dtype(), "out")) return;
  copy_tensor(context, self, out);
  if (context.failed() || !check_data(context, {&src})) return;
  const std::optional<size_t> place = normalize_dim(context, dim, self.rank());
  each_indexed(context, out, *place, index, src_layout, [&](int64_t to, int64_t from) {
    mover->move(src.raw_data(), from, 1, out.mutable_raw_data(), to, 1, 1);
  });
}

void scatter_src_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& src, Tensor& out) {
  const std::optional<size_t> place = normalize_dim(context, dim, self.rank());
  if (!place || !check_dtype(context, src, self.dtype(), "src") ||
      !check_scatter_shapes(context, self, *place, index, &src)) {
    return;
  }
  scatter(context, self, dim, index, src, at_least_1d(src), out);
}

void scatter_value_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                       const Scalar& value, Tensor& out) {
  const std::optional<size_t> place = normalize_dim(context, dim, self.rank());
  if (!place || !check_scatter_shapes(context, self, *place, index, nullptr)) return;
  const ScalarElement element(value);
  Layout everywhere;
  for (size_t i = 0; i < std::max<size_t>(index.rank(), 1); ++i) everywhere.insert(i, 1, 0);
  scatter(context, self, dim, index, element.tensor(), everywhere, out);
}

}  // namespace

VITRINE_KERNEL(scatter_src_out, "aten::scatter.src_out", scatter_src_out);
VITRINE_KERNEL(scatter_value_out, "aten::scatter.value_out", scatter_value_out);

}  // namespace vitrine::portable
