#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Fails unless `index` is empty or has the rank of `target` and `other`. The sizes of `index` must
// not exceed the sizes of `other`. Except in `dim`, the sizes of `index` must not exceed the sizes
// of `target`. `other` may be null. A 0-d tensor counts as a 1-d tensor.
bool check_scatter_shapes(KernelContext& context, const Tensor& target, size_t dim,
                          const Tensor& index, const Tensor* other) {
  const Layout index_layout = at_least_1d(index);
  if (index.numel() == 0) return true;
  const Layout into = at_least_1d(target);
  const Layout from = other != nullptr ? at_least_1d(*other) : index_layout;
  bool fits = index_layout.rank == into.rank && index_layout.rank == from.rank;
  for (size_t i = 0; fits && i < index_layout.rank; ++i) {
    fits = (i == dim || index_layout.sizes[i] <= into.sizes[i]) &&
           index_layout.sizes[i] <= from.sizes[i];
  }
  if (fits) return true;
  char texts[2][96];
  describe(index, texts[0], sizeof texts[0]);
  describe(target, texts[1], sizeof texts[1]);
  context.fail(ErrorCode::kInvalidArgument,
               "index %s must have the rank of self %s, must not be larger than src, and may be "
               "larger than self only in dimension dim",
               texts[0], texts[1]);
  return false;
}

// Calls visit(offset in target, offset in other) for every element of `index`, in row-major order.
// If index[..., i, ...] is j, the offsets belong to target[..., j, ...] and other[..., i, ...].
// Stops and fails if an index is out of range.
template <class Visit>
void for_each_index(KernelContext& context, const Tensor& target, size_t dim, const Tensor& index,
                    const Layout& other, Visit&& visit) {
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
      visit(first[1] + i * loop.row_stride(1) + picked * stride, first[2] + i * loop.row_stride(2));
    }
  });
}

// sparse_grad affects only gradients.
void gather_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                bool /*sparse_grad*/, Tensor& out) {
  const std::optional<size_t> axis = normalize_dim(context, dim, self.rank());
  if (!axis || !check_dtype(context, out, self.dtype(), "out") ||
      !check_scatter_shapes(context, self, *axis, index, nullptr) ||
      !context.resize(out, index.sizes()) || !check_data(context, {&self, &out})) {
    return;
  }
  const auto mover = ElementMover::make(context, self.dtype(), out.dtype());
  if (!mover) return;
  for_each_index(context, self, *axis, index, at_least_1d(out), [&](int64_t from, int64_t to) {
    mover->move(self.raw_data(), from, 1, out.mutable_raw_data(), to, 1, 1);
  });
}

// Copies self to out, and then writes the elements of `src` to the positions in `index`.
void scatter(KernelContext& context, const Tensor& self, size_t dim, const Tensor& index,
             const Tensor& src, const Layout& src_layout, Tensor& out) {
  const auto mover = ElementMover::make(context, src.dtype(), out.dtype());
  if (!mover || !check_dtype(context, out, self.dtype(), "out")) return;
  copy_tensor(context, self, out);
  if (context.failed() || !check_data(context, {&src})) return;
  for_each_index(context, out, dim, index, src_layout, [&](int64_t to, int64_t from) {
    mover->move(src.raw_data(), from, 1, out.mutable_raw_data(), to, 1, 1);
  });
}

void scatter_src_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& src, Tensor& out) {
  const std::optional<size_t> axis = normalize_dim(context, dim, self.rank());
  if (!axis || !check_dtype(context, src, self.dtype(), "src") ||
      !check_scatter_shapes(context, self, *axis, index, &src)) {
    return;
  }
  scatter(context, self, *axis, index, src, at_least_1d(src), out);
}

void scatter_value_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                       const Scalar& value, Tensor& out) {
  const std::optional<size_t> axis = normalize_dim(context, dim, self.rank());
  if (!axis || !check_scatter_shapes(context, self, *axis, index, nullptr)) return;
  const ScalarElement element(value);
  Layout repeated;  // reads the single element for every index
  for (size_t i = 0; i < std::max<size_t>(index.rank(), 1); ++i) repeated.insert(i, 1, 0);
  scatter(context, self, *axis, index, element.tensor(), repeated, out);
}

void scatter_add_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                     const Tensor& src, Tensor& out) {
  const std::optional<size_t> axis = normalize_dim(context, dim, self.rank());
  if (!axis || !check_dtype(context, src, self.dtype(), "src") ||
      !check_dtype(context, out, self.dtype(), "out") ||
      !check_scatter_shapes(context, self, *axis, index, &src) || !check_data(context, {&src})) {
    return;
  }
  copy_tensor(context, self, out);
  if (context.failed()) return;
  dispatch<RealHBBF16Types>(context, self.dtype(), [&]<class T>() {
    using C = Compute<T>;
    const T* values = src.unchecked_data<T>();
    T* sums = out.unchecked_mutable_data<T>();
    for_each_index(context, out, *axis, index, at_least_1d(src), [&](int64_t to, int64_t from) {
      sums[to] = T(wrapping_add<C>(C(load(&sums[to])), C(load(&values[from]))));
    });
  });
}

// A reduction of scatter_reduce. `combine` merges an element into a result. If include_self is
// false, each result begins as `initial`.
template <class C>
struct ScatterReduction {
  C initial;
  C (*combine)(C a, C b);
};

template <class C>
std::optional<ScatterReduction<C>> scatter_reduction(std::string_view name) {
  using Limits = std::numeric_limits<C>;
  const C lowest = std::is_floating_point_v<C> ? -Limits::infinity() : Limits::lowest();
  const C highest = std::is_floating_point_v<C> ? Limits::infinity() : Limits::max();
  if (name == "sum" || name == "mean") return ScatterReduction<C>{C(0), wrapping_add<C>};
  if (name == "prod") return ScatterReduction<C>{C(1), wrapping_mul<C>};
  if (name == "amax") return ScatterReduction<C>{lowest, larger<C>};
  if (name == "amin") return ScatterReduction<C>{highest, smaller<C>};
  return std::nullopt;
}

// Divides each sum by its number of terms. This number has the dtype of the elements and may wrap
// to 0, as in PyTorch.
template <class T>
void divide_by_counts(std::span<const int64_t> counts, T* values) {
  using C = Compute<T>;
  if constexpr (!std::is_same_v<T, bool>) {
    for (size_t i = 0; i < counts.size(); ++i) {
      const C count = static_cast<C>(counts[i]);
      if (count == C(0) || count == C(1)) continue;
      const C sum(values[i]);
      values[i] = T(std::is_floating_point_v<C> ? sum / count : divide_floor(sum, count));
    }
  }
}

void scatter_reduce_two_out(KernelContext& context, const Tensor& self, int64_t dim,
                            const Tensor& index, const Tensor& src, std::string_view reduce,
                            bool include_self, Tensor& out) {
  const std::optional<size_t> axis = normalize_dim(context, dim, self.rank());
  if (!axis || !check_dtype(context, src, self.dtype(), "src") ||
      !check_dtype(context, out, self.dtype(), "out") ||
      !check_scatter_shapes(context, self, *axis, index, &src) || !check_data(context, {&src})) {
    return;
  }
  const bool is_mean = reduce == "mean";
  if (!scatter_reduction<float>(reduce) || (is_mean && self.dtype() == ScalarType::kBool)) {
    return context.fail(
        ErrorCode::kInvalidArgument, "reduce is %.*s; expected %s",
        static_cast<int>(std::min<size_t>(reduce.size(), 32)), reduce.data(),
        is_mean ? "sum, prod, amax or amin for bools" : "sum, prod, mean, amax or amin");
  }
  copy_tensor(context, self, out);
  if (context.failed() || index.numel() == 0) return;
  std::span<int64_t> counts;
  if (is_mean) {
    counts = context.allocate_temp_array<int64_t>(static_cast<size_t>(out.numel()));
    if (counts.empty()) return;
    std::ranges::fill(counts, include_self ? 1 : 0);
  }
  dispatch<RealHBBF16Types>(context, self.dtype(), [&]<class T>() {
    using C = Compute<T>;
    const auto reduction = *scatter_reduction<C>(reduce);
    const T* values = src.unchecked_data<T>();
    T* results = out.unchecked_mutable_data<T>();
    const Layout from = at_least_1d(src);
    if (!include_self) {
      for_each_index(context, out, *axis, index, from,
                     [&](int64_t to, int64_t) { results[to] = T(reduction.initial); });
    }
    for_each_index(context, out, *axis, index, from, [&](int64_t to, int64_t at) {
      results[to] = T(reduction.combine(C(load(&results[to])), C(load(&values[at]))));
      if (is_mean) ++counts[static_cast<size_t>(to)];
    });
    if (is_mean && !context.failed()) divide_by_counts<T>(counts, results);
  });
}

}  // namespace

VITRINE_KERNEL(gather_out, "aten::gather.out", gather_out);
VITRINE_KERNEL(scatter_src_out, "aten::scatter.src_out", scatter_src_out);
VITRINE_KERNEL(scatter_value_out, "aten::scatter.value_out", scatter_value_out);
VITRINE_KERNEL(scatter_add_out, "aten::scatter_add.out", scatter_add_out);
VITRINE_KERNEL(scatter_reduce_two_out, "aten::scatter_reduce.two_out", scatter_reduce_two_out);

}  // namespace vitrine::portable
