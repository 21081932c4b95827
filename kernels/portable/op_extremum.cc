// Largest and smallest elements, and where they are.
#include "kernels/util/promotion.h"
#include "kernels/util/reduction.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

enum class Extremum : uint8_t { kLargest, kSmallest };

template <class T, Extremum which>
struct Best {
  using In = T;
  using Results = TypeList<T, int64_t>;
  int64_t seen = 0;
  int64_t index = 0;
  T value{};

  static bool beats(T a, T b) {
    if (b != b) return false;  // the first NaN stays
    return a != a || (which == Extremum::kLargest ? a > b : a < b);
  }
  void add(std::span<const T> values) {
    size_t i = 0;
    if (seen == 0) value = values[i++];
    for (; i < values.size(); ++i) {
      if (beats(values[i], value)) {
        value = values[i];
        index = seen + static_cast<int64_t>(i);
      }
    }
    seen += static_cast<int64_t>(values.size());
  }
  void result(T& best, int64_t& at) const {
    best = value;
    at = index;
  }
};

// `values` (of a dtype that takes self's) and `indices` (Long) may be null. A NaN wins over every
// number; of equals the first wins. An index counts in row-major order within the reduced
// dimensions. InvalidArgument where there is nothing to choose from.
void extremum(KernelContext& context, Extremum which, const Tensor& self, uint32_t mask,
              bool keepdim, Tensor* values, Tensor* indices) {
  if (indices != nullptr && !check_dtype(context, *indices, ScalarType::kLong, "out")) return;
  if (values != nullptr && !can_cast(self.dtype(), values->dtype())) {
    return context.fail(ErrorCode::kInvalidArgument, "a result of dtype %s cannot be put into %s",
                        scalar_type_name(self.dtype()), scalar_type_name(values->dtype()));
  }
  const ReductionRules rules{
      .common = self.dtype(), .logical_order = indices != nullptr, .needs_elements = true};
  dispatch<RealBTypes>(context, compute_type(self.dtype()), [&]<class T>() {
    if (which == Extremum::kLargest) {
      reduce(context, Best<T, Extremum::kLargest>{}, rules, self, mask, keepdim, {values, indices});
    } else {
      reduce(context, Best<T, Extremum::kSmallest>{}, rules, self, mask, keepdim,
             {values, indices});
    }
  });
}

template <Extremum which>
void amax_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dim,
              bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dims(context, self, dim);
  if (mask) extremum(context, which, self, *mask, keepdim, &out, nullptr);
}

template <Extremum which>
void argmax_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim,
                bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (mask) extremum(context, which, self, *mask, keepdim, nullptr, &out);
}

template <Extremum which>
void max_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                 Tensor& values, Tensor& indices) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (mask) extremum(context, which, self, *mask, keepdim, &values, &indices);
}

template <Extremum which>
void max_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  extremum(context, which, self, kAllDims, false, &out, nullptr);
}

}  // namespace

VITRINE_KERNEL(amax_out, "aten::amax.out", amax_out<Extremum::kLargest>);
VITRINE_KERNEL(argmax_out, "aten::argmax.out", argmax_out<Extremum::kLargest>);
VITRINE_KERNEL(max_dim_max, "aten::max.dim_max", max_dim_out<Extremum::kLargest>);
VITRINE_KERNEL(max_unary_out, "aten::max.unary_out", max_unary_out<Extremum::kLargest>);
VITRINE_KERNEL(amin_out, "aten::amin.out", amax_out<Extremum::kSmallest>);
VITRINE_KERNEL(argmin_out, "aten::argmin.out", argmax_out<Extremum::kSmallest>);
VITRINE_KERNEL(min_dim_min, "aten::min.dim_min", max_dim_out<Extremum::kSmallest>);
VITRINE_KERNEL(min_unary_out, "aten::min.unary_out", max_unary_out<Extremum::kSmallest>);

}  // namespace vitrine::portable
