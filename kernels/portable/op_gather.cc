#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "kernels/util/scatter.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// sparse_grad matters to gradients only.
void gather_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                bool sparse_grad, Tensor& out) {
  (void)sparse_grad;
  const std::optional<size_t> place = normalize_dim(context, dim, self.rank());
  if (!place || !check_dtype(context, out, self.dtype(), "out") ||
      !check_scatter_shapes(context, self, *place, index, nullptr) ||
      !context.resize(out, index.sizes()) || !check_data(context, {&self, &out})) {
    return;
  }
  const auto mover = ElementMover::make(context, self.dtype(), out.dtype());
  if (!mover) return;
  each_indexed(context, self, *place, index, at_least_1d(out), [&](int64_t from, int64_t to) {
    mover->move(self.raw_data(), from, 1, out.mutable_raw_data(), to, 1, 1);
  });
}

}  // namespace

VITRINE_KERNEL(gather_out, "aten::gather.out", gather_out);

}  // namespace vitrine::portable
