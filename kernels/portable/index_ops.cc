#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/indexing.h"
#include "runtime/core/checked_math.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Arguments without a name affect only gradients.
void embedding_out(KernelContext& context, const Tensor& weight, const Tensor& indices,
                   int64_t /*padding_idx*/, bool /*scale_grad_by_freq*/, bool /*sparse*/,
                   Tensor& out) {
  if (!check_rank(context, weight, 2, "weight")) return;
  take_along(context, weight, 0, indices, Layout(indices), out);
}

void index_select_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                      Tensor& out) {
  const std::optional<size_t> axis = normalize_dim(context, dim, self.rank());
  if (!axis) return;
  if (index.rank() > 1 || (self.rank() == 0 && index.numel() != 1)) {
    return context.fail(
        ErrorCode::kInvalidArgument,
        "index has %lld elements and rank %zu, expected rank 0 or 1, and 1 element if self is 0-d",
        static_cast<long long>(index.numel()), index.rank());
  }
  // Selecting an element of a 0-d tensor returns a 0-d tensor.
  const Layout picks = self.rank() == 0 ? Layout() : at_least_1d(index);
  take_along(context, self, *axis, index, picks, out);
}

// The dimension of the only index, unless this index is a mask.
std::optional<size_t> only_indexed_dim(const Tensor& self, const OptionalTensorList& indices) {
  std::optional<size_t> found;
  for (size_t i = 0; i < indices.tensors.size(); ++i) {
    const Tensor* const index = indices.tensors[i];
    if (index == nullptr) continue;
    if (found || i >= self.rank() || self.rank() + index->rank() > kMaxRank ||
        (index->dtype() != ScalarType::kLong && index->dtype() != ScalarType::kInt)) {
      return std::nullopt;
    }
    found = i;
  }
  return indices.tensors.size() <= self.rank() ? found : std::nullopt;
}

void index_Tensor_out(KernelContext& context, const Tensor& self, OptionalTensorList indices,
                      Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  if (const std::optional<size_t> dim = only_indexed_dim(self, indices)) {
    const Tensor& picks = *indices.tensors[*dim];
    return take_along(context, self, *dim, picks, Layout(picks), out, true);
  }
  const AdvancedIndex index(context, self, indices);
  if (context.failed() || !resize_to(context, out, index.result_sizes()) ||
      !check_data(context, {&self, &out})) {
    return;
  }
  const auto mover = ElementMover::make(context, self.dtype(), out.dtype());
  if (!mover) return;
  index.for_each_run(Layout(out), [&](int64_t from, int64_t from_stride, int64_t to,
                                      int64_t to_stride, int64_t count) {
    mover->move(self.raw_data(), from, from_stride, out.mutable_raw_data(), to, to_stride, count);
  });
}

// Adds values to target. If several indices select the same position, all of their values are
// added.
template <class T>
void accumulate(const AdvancedIndex& index, const Tensor& values, const Layout& layout,
                Tensor& target) {
  const T* from = values.unchecked_data<T>();
  T* to = target.unchecked_mutable_data<T>();
  index.for_each_run(
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
  const AdvancedIndex index(context, self, indices);
  if (context.failed()) return;
  Layout layout(values);
  if (!layout.broadcast_to(index.result_sizes())) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "values do not broadcast to the shape that the indices select");
  }
  if (accumulates) {
    dispatch<RealHBBF16Types>(context, self.dtype(),
                              [&]<class T>() { accumulate<T>(index, values, layout, self); });
    return;
  }
  const auto mover = ElementMover::make(context, values.dtype(), self.dtype());
  if (!mover) return;
  index.for_each_run(
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

// Calls visit(row-major index) for each element that is not zero, in row-major order.
template <class T, class Visit>
void for_each_nonzero(const Tensor& self, Visit&& visit) {
  const Layout layout(self);
  const BoxLoop<1> loop(layout.size_span(), {layout.strides.data()}, LoopOrder::kRowMajor);
  int64_t index = 0;
  loop.run({0}, [&](const auto& first, int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++index) {
      if (convert<bool>(load(self.unchecked_data<T>() + first[0] + i * loop.row_stride(0))))
        visit(index);
    }
  });
}

void nonzero_out(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!check_dtype(context, out, ScalarType::kLong, "out") || !check_rank(context, out, 2, "out") ||
      !check_data(context, {&self})) {
    return;
  }
  dispatch<RealHBBF16Types>(context, self.dtype(), [&]<class T>() {
    int64_t count = 0;
    for_each_nonzero<T>(self, [&](int64_t) { ++count; });
    const int64_t rank = static_cast<int64_t>(self.rank());
    if (!resize_to(context, out, std::array{count, rank}) || !check_data(context, {&out}) ||
        !check_no_overlap(context, out, {&self})) {
      return;
    }
    const Layout result(out);
    int64_t row = 0;
    for_each_nonzero<T>(self, [&](int64_t index) {
      for (int64_t i = rank; i-- > 0;) {
        const int64_t size = self.size(static_cast<size_t>(i));
        out.unchecked_mutable_data<int64_t>()[row * result.strides[0] + i * result.strides[1]] =
            index % size;  // NOLINT(clang-analyzer-core.DivideZero): a nonzero element exists
        index /= size;
      }
      ++row;
    });
  });
}

// Writes each index i of `repeats` to `out` repeats[i] times.
void repeat_interleave_Tensor_out(KernelContext& context, const Tensor& repeats,
                                  std::optional<int64_t> output_size, Tensor& out) {
  const auto reader = IndexReader::make(context, repeats);
  if (!reader || !check_rank(context, repeats, 1, "repeats")) return;
  int64_t total = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    const int64_t count = (*reader)[i];
    if (count < 0 || add_overflows(total, count, &total)) {
      return context.fail(ErrorCode::kInvalidArgument,
                          "repeats[%lld] is %lld, which is negative or makes the sum overflow",
                          static_cast<long long>(i), static_cast<long long>(count));
    }
  }
  if (output_size && *output_size != total) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "output_size is %lld, but the sum of repeats is %lld",
                        static_cast<long long>(*output_size), static_cast<long long>(total));
  }
  if (!check_dtype(context, out, repeats.dtype(), "out") ||
      !resize_to(context, out, std::array{total}) || !check_data(context, {&out}) ||
      !check_no_overlap(context, out, {&repeats})) {
    return;
  }
  dispatch<TypeList<int32_t, int64_t>>(context, out.dtype(), [&]<class T>() {
    T* to = out.unchecked_mutable_data<T>();
    for (int64_t i = 0; i < repeats.numel(); ++i) {
      for (int64_t k = (*reader)[i]; k > 0; --k) *to++ = static_cast<T>(i);
    }
  });
}

}  // namespace

VITRINE_KERNEL(embedding_out, "aten::embedding.out", embedding_out);
VITRINE_KERNEL(index_select_out, "aten::index_select.out", index_select_out);
VITRINE_KERNEL(index_Tensor_out, "aten::index.Tensor_out", index_Tensor_out);
VITRINE_KERNEL(index_put_, "aten::index_put_", index_put_);
VITRINE_KERNEL(index_put_out, "aten::index_put.out", index_put_out);
VITRINE_KERNEL(nonzero_out, "aten::nonzero.out", nonzero_out);
VITRINE_KERNEL(repeat_interleave_Tensor_out, "aten::repeat_interleave.Tensor_out",
               repeat_interleave_Tensor_out);

}  // namespace vitrine::portable
