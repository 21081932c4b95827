// Elements moved along one dimension to or from places that an index tensor names.
#include <algorithm>

#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Checks that `index` (Int or Long) has the rank of `target`, whose dimension `dim` it picks from,
// and is not larger than it in the others; likewise not larger than `other` in any, if that is not
// null. A 0-d tensor counts as one element in one dimension.
bool check_scatter_shapes(KernelContext& context, const Tensor& target, size_t dim,
                          const Tensor& index, const Tensor* other) {
  const Layout places = at_least_1d(index);
  if (index.numel() == 0) return true;
  const Layout into = at_least_1d(target);
  const Layout from = other != nullptr ? at_least_1d(*other) : places;
  bool fits = places.rank == into.rank && places.rank == from.rank;
  for (size_t i = 0; fits && i < places.rank; ++i) {
    fits = (i == dim || places.sizes[i] <= into.sizes[i]) && places.sizes[i] <= from.sizes[i];
  }
  if (fits) return true;
  char texts[2][96];
  describe(index, texts[0], sizeof texts[0]);
  describe(target, texts[1], sizeof texts[1]);
  context.fail(ErrorCode::kInvalidArgument, "index %s does not suit self, %s, or src", texts[0],
               texts[1]);
  return false;
}

// element(offset in target, offset in other) for every element of `index`, in row-major order:
// where index is j at [..., i, ...], target's offset is that of [..., j, ...] and other's that of
// [..., i, ...]. Stops and fails at an index that is out of range.
template <class Element>
void each_indexed(KernelContext& context, const Tensor& target, size_t dim, const Tensor& index,
                  const Layout& other, Element&& element) {
  const std::optional<IndexReader> reader = IndexReader::make(context, index);
  if (!reader || index.numel() == 0) return;
  Layout base = at_least_1d(target);
  const int64_t size = base.sizes[dim];
  const int64_t stride = base.strides[dim];
  base.strides[dim] = 0;
  const Layout layout = at_least_1d(index);
  const BoxLoop<3> loop(layout.size_span(),
                        {layout.strides.data(), base.strides.data(), other.strides.data()},
                        LoopOrder::kRowMajor);
  loop.run({0, 0, 0}, [&](const auto& first, int64_t count) {
    for (int64_t i = 0; i < count && !context.failed(); ++i) {
      const int64_t picked = (*reader)[first[0] + i * loop.row_stride(0)];
      if (!check_index(context, picked, size)) return;
      element(first[1] + i * loop.row_stride(1) + picked * stride,
              first[2] + i * loop.row_stride(2));
    }
  });
}

// sparse_grad matters to gradients only.
void gather_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                bool /*sparse_grad*/, Tensor& out) {
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

// out = self with src's elements, laid out as `src_layout`, at the places that `index` names.
void scatter(KernelContext& context, const Tensor& self, size_t dim, const Tensor& index,
             const Tensor& src, const Layout& src_layout, Tensor& out) {
  const auto mover = ElementMover::make(context, src.dtype(), out.dtype());
  if (!mover || !check_dtype(context, out, self.dtype(), "out")) return;
  copy_tensor(context, self, out);
  if (context.failed() || !check_data(context, {&src})) return;
  each_indexed(context, out, dim, index, src_layout, [&](int64_t to, int64_t from) {
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
  scatter(context, self, *place, index, src, at_least_1d(src), out);
}

void scatter_value_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                       const Scalar& value, Tensor& out) {
  const std::optional<size_t> place = normalize_dim(context, dim, self.rank());
  if (!place || !check_scatter_shapes(context, self, *place, index, nullptr)) return;
  const ScalarElement element(value);
  Layout everywhere;
  for (size_t i = 0; i < std::max<size_t>(index.rank(), 1); ++i) everywhere.insert(i, 1, 0);
  scatter(context, self, *place, index, element.tensor(), everywhere, out);
}

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
    const T* values = src.unchecked_data<T>();
    T* sums = out.unchecked_mutable_data<T>();
    each_indexed(context, out, *place, index, at_least_1d(src), [&](int64_t to, int64_t from) {
      sums[to] = T(wrapping_add<C>(C(load(&sums[to])), C(load(&values[from]))));
    });
  });
}

}  // namespace

VITRINE_KERNEL(gather_out, "aten::gather.out", gather_out);
VITRINE_KERNEL(scatter_src_out, "aten::scatter.src_out", scatter_src_out);
VITRINE_KERNEL(scatter_value_out, "aten::scatter.value_out", scatter_value_out);
VITRINE_KERNEL(scatter_add_out, "aten::scatter_add.out", scatter_add_out);

}  // namespace vitrine::portable
