#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// target[offset] += values, once for every time that a place is picked.
template <class T>
void accumulate(const AdvancedIndex& index, const Tensor& values, const Layout& layout,
                Tensor& target) {
  const T* from = values.unchecked_data<T>();
  T* to = target.unchecked_mutable_data<T>();
  index.each_run(
      layout, [&](int64_t at, int64_t stride, int64_t value, int64_t value_stride, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          using C = Compute<T>;
          T& sum = to[at + i * stride];
          sum = T(wrapping_add<C>(C(load(&sum)), C(load(&from[value + i * value_stride]))));
        }
      });
}

void index_put_(KernelContext& context, Tensor& self, OptionalTensorList indices,
                const Tensor& values, bool accumulates) {
  if (!check_dtype(context, values, self.dtype(), "values") ||
      !check_data(context, {&self, &values})) {
    return;
  }
  const auto index = AdvancedIndex::make(context, self, indices);
  if (!index) return;
  Layout layout(values);
  if (!layout.broadcast_to(index->result_sizes())) {
    context.fail(ErrorCode::kInvalidArgument,
                 "values do not broadcast to the shape that the indices pick");
    return;
  }
  if (accumulates) {
    dispatch<RealHBBF16Types>(context, self.dtype(),
                              [&]<class T>() { accumulate<T>(*index, values, layout, self); });
    return;
  }
  const auto mover = ElementMover::make(context, values.dtype(), self.dtype());
  if (!mover) return;
  index->each_run(
      layout, [&](int64_t to, int64_t to_stride, int64_t from, int64_t from_stride, int64_t count) {
        mover->move(values.raw_data(), from, from_stride, self.mutable_raw_data(), to, to_stride,
                    count);
      });
}

void index_put_out(KernelContext& context, const Tensor& self, OptionalTensorList indices,
                   const Tensor& values, bool accumulates, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  copy_tensor(context, self, out);
  if (!context.failed()) index_put_(context, out, indices, values, accumulates);
}

}  // namespace

VITRINE_KERNEL(index_put_, "aten::index_put_", index_put_);
VITRINE_KERNEL(index_put_out, "aten::index_put.out", index_put_out);

}  // namespace vitrine::portable
