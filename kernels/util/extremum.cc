#include "kernels/util/extremum.h"

#include "kernels/util/promotion.h"

namespace vitrine {

namespace {

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

}  // namespace

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

}  // namespace vitrine
