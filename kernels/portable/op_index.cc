#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void index_Tensor_out(KernelContext& context, const Tensor& self, OptionalTensorList indices,
                      Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  const auto index = AdvancedIndex::make(context, self, indices);
  if (!index || !resize_to(context, out, index->result_sizes()) ||
      !check_data(context, {&self, &out})) {
    return;
  }
  const auto mover = ElementMover::make(context, self.dtype(), out.dtype());
  if (!mover) return;
  index->each_run(Layout(out), [&](int64_t from, int64_t from_stride, int64_t to, int64_t to_stride,
                                   int64_t count) {
    mover->move(self.raw_data(), from, from_stride, out.mutable_raw_data(), to, to_stride, count);
  });
}

}  // namespace

VITRINE_KERNEL(index_Tensor_out, "aten::index.Tensor_out", index_Tensor_out);

}  // namespace vitrine::portable
