#include <optional>
#include <span>
#include <type_traits>

#include "kernels/util/along_dim.h"
#include "kernels/util/arithmetic.h"
#include "kernels/util/moments.h"
#include "kernels/util/promotion.h"
#include "kernels/util/reduction.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

using SumTypes = TypeList<int64_t, float, double, bool>;

// Elements are converted to this dtype before they are summed or multiplied. `out` is the dtype of
// the output. Wrapping a Long to a smaller integer at the end gives the same value as wrapping
// after each step.
constexpr ScalarType sum_type(ScalarType out) {
  return is_integral(out) ? ScalarType::kLong : compute_type(out);
}

// Integers wrap around. Floating types are summed in double. The sum of Bool elements is their
// logical OR.
template <class T>
struct Sum {
  static constexpr size_t kLanes = 4;  // independent sums, which the processor adds in parallel
  using In = T;
  using Results = TypeList<T>;
  using Total = std::conditional_t<std::is_floating_point_v<T>, double,
                                   std::conditional_t<std::is_same_v<T, bool>, bool, uint64_t>>;
  Total lanes[kLanes] = {};

  static Total plus(Total total, T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return total || value;
    } else {
      return total + static_cast<Total>(value);
    }
  }
  void add(std::span<const T> values) {
    size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = plus(lanes[lane], values[i + lane]);
      }
    }
    for (; i < values.size(); ++i) lanes[0] = plus(lanes[0], values[i]);
  }
  Total total() const {
    if constexpr (std::is_same_v<T, bool>) {
      return lanes[0] || lanes[1] || lanes[2] || lanes[3];
    } else {
      return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
  }
  void result(T& sum) const { sum = static_cast<T>(total()); }
};

template <class T>
struct SumOfNumbers : Sum<T> {
  void add(std::span<const T> values) {
    for (const T value : values) {
      if (value == value) this->lanes[0] = Sum<T>::plus(this->lanes[0], value);
    }
  }
};

template <class T>
struct Product {
  using In = T;
  using Results = TypeList<T>;
  T product = T(1);

  void add(std::span<const T> values) {
    for (const T& value : values) product = wrapping_mul(product, value);
  }
  void result(T& out) const { out = product; }
};

// In this file, `mask` has a bit for each reduced dimension. It is nullopt if the context has
// failed.
template <template <class> class Reduction>
void total(KernelContext& context, const Tensor& self, std::optional<uint32_t> mask, bool keepdim,
           std::optional<ScalarType> dtype, Tensor& out) {
  if (!mask || (dtype && !check_dtype(context, out, *dtype, "out"))) return;
  const ScalarType type = out.dtype();
  dispatch<SumTypes>(context, sum_type(type), [&]<class T>() {
    reduce(context, Reduction<T>{}, {.common = type}, self, *mask, keepdim, {&out});
  });
}

template <template <class> class Reduction>
void sum(KernelContext& context, const Tensor& self, std::optional<std::span<const int64_t>> dim,
         bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  total<Reduction>(context, self, reduced_dims(context, self, dim), keepdim, dtype, out);
}

void prod_int_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                  std::optional<ScalarType> dtype, Tensor& out) {
  total<Product>(context, self, reduced_dim(context, self, dim), keepdim, dtype, out);
}

void prod_out(KernelContext& context, const Tensor& self, std::optional<ScalarType> dtype,
              Tensor& out) {
  total<Product>(context, self, kAllDims, false, dtype, out);
}

template <class T>
struct Mean {
  using In = T;
  using Results = TypeList<T>;
  Sum<T> sum;
  int64_t count = 0;

  void add(std::span<const T> values) {
    sum.add(values);
    count += static_cast<int64_t>(values.size());
  }
  void result(T& mean) const {
    mean = static_cast<T>(sum.total() / static_cast<double>(count));  // NaN if count is 0
  }
};

void mean(KernelContext& context, const Tensor& self, std::optional<uint32_t> mask, bool keepdim,
          std::optional<ScalarType> dtype, Tensor& out) {
  if (!mask || (dtype ? !check_dtype(context, out, *dtype, "out")
                      : !check_dtype_in<FloatHBF16Types>(context, self))) {
    return;
  }
  dispatch<FloatTypes>(context, compute_type(out.dtype()), [&]<class T>() {
    reduce(context, Mean<T>{}, {.common = out.dtype()}, self, *mask, keepdim, {&out});
  });
}

void mean_out(KernelContext& context, const Tensor& self,
              std::optional<std::span<const int64_t>> dim, bool keepdim,
              std::optional<ScalarType> dtype, Tensor& out) {
  mean(context, self, reduced_dims(context, self, dim), keepdim, dtype, out);
}

void mean_dtype_out(KernelContext& context, const Tensor& self, std::optional<ScalarType> dtype,
                    Tensor& out) {
  mean(context, self, kAllDims, false, dtype, out);
}

void cumsum_out(KernelContext& context, const Tensor& self, int64_t dim,
                std::optional<ScalarType> dtype, Tensor& out) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along || (dtype && !check_dtype(context, out, *dtype, "out")) ||
      !context.resize(out, self.sizes())) {
    return;
  }
  dispatch<SumTypes>(context, sum_type(out.dtype()), [&]<class T>() {
    for_each_line<T>(context, self, out.dtype(), *along, out, [](const Line<T>& line) {
      typename Sum<T>::Total total{};
      line.map([&total](const T* in, T* sums, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          total = Sum<T>::plus(total, in[i]);
          sums[i] = static_cast<T>(total);
        }
      });
    });
  });
}

void var_correction_out(KernelContext& context, const Tensor& self,
                        std::optional<std::span<const int64_t>> dim,
                        std::optional<Scalar> correction, bool keepdim, Tensor& out) {
  variance(context, self, dim, correction ? correction->to<double>() : 1.0, keepdim, &out, nullptr);
}

void var_out(KernelContext& context, const Tensor& self,
             std::optional<std::span<const int64_t>> dim, bool unbiased, bool keepdim,
             Tensor& out) {
  variance(context, self, dim, unbiased ? 1.0 : 0.0, keepdim, &out, nullptr);
}

void var_mean_correction_out(KernelContext& context, const Tensor& self,
                             std::optional<std::span<const int64_t>> dim,
                             std::optional<Scalar> correction, bool keepdim, Tensor& out0,
                             Tensor& out1) {
  variance(context, self, dim, correction ? correction->to<double>() : 1.0, keepdim, &out0, &out1);
}

struct Any {
  using In = bool;
  using Results = TypeList<bool>;
  bool any = false;

  void add(std::span<const bool> values) {
    for (const bool value : values) any = any || value;
  }
  void result(bool& out) const { out = any; }
};

void any(KernelContext& context, const Tensor& self, std::optional<uint32_t> mask, bool keepdim,
         Tensor& out) {
  if (!mask || !check_dtype_in<TypeList<bool, uint8_t>>(context, out)) return;
  reduce(context, Any{}, {.common = ScalarType::kBool}, self, *mask, keepdim, {&out});
}

void any_all_out(KernelContext& context, const Tensor& self, Tensor& out) {
  any(context, self, kAllDims, false, out);
}

void any_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  any(context, self, reduced_dim(context, self, dim), keepdim, out);
}

// An empty `dim` reduces no dimension. In other operators, an empty `dim` reduces all dimensions.
void any_dims_out(KernelContext& context, const Tensor& self,
                  std::optional<std::span<const int64_t>> dim, bool keepdim, Tensor& out) {
  any(context, self, dim ? dim_mask(context, *dim, self.rank()) : kAllDims, keepdim, out);
}

enum class Extremum : uint8_t { kLargest, kSmallest };

template <class T, Extremum which>
struct Best {
  using In = T;
  using Results = TypeList<T, int64_t>;
  int64_t seen = 0;
  int64_t index = 0;
  T value{};

  static bool beats(T a, T b) {
    if (b != b) return false;  // keeps the first NaN
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

// Computes the largest or smallest element and its row-major index within the reduced dimensions.
// `values` and `indices` (Long) may be null. self's dtype must be castable to the dtype of
// `values`. NaN wins over every number. Ties: the first element wins. Fails with InvalidArgument if
// `self` is empty.
void extremum(KernelContext& context, Extremum which, const Tensor& self,
              std::optional<uint32_t> mask, bool keepdim, Tensor* values, Tensor* indices) {
  if (!mask || (indices != nullptr && !check_dtype(context, *indices, ScalarType::kLong, "out")))
    return;
  if (values != nullptr && !can_cast(self.dtype(), values->dtype())) {
    return context.fail(ErrorCode::kInvalidArgument, "a result of dtype %s cannot be stored as %s",
                        scalar_type_name(self.dtype()), scalar_type_name(values->dtype()));
  }
  const ReductionRules rules{
      .common = self.dtype(), .logical_order = indices != nullptr, .needs_elements = true};
  dispatch<RealBTypes>(context, compute_type(self.dtype()), [&]<class T>() {
    if (which == Extremum::kLargest) {
      reduce(context, Best<T, Extremum::kLargest>{}, rules, self, *mask, keepdim,
             {values, indices});
    } else {
      reduce(context, Best<T, Extremum::kSmallest>{}, rules, self, *mask, keepdim,
             {values, indices});
    }
  });
}

template <Extremum which>
void amax_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dim,
              bool keepdim, Tensor& out) {
  extremum(context, which, self, reduced_dims(context, self, dim), keepdim, &out, nullptr);
}

template <Extremum which>
void argmax_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim,
                bool keepdim, Tensor& out) {
  extremum(context, which, self, reduced_dim(context, self, dim), keepdim, nullptr, &out);
}

template <Extremum which>
void max_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                 Tensor& values, Tensor& indices) {
  extremum(context, which, self, reduced_dim(context, self, dim), keepdim, &values, &indices);
}

template <Extremum which>
void max_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  extremum(context, which, self, kAllDims, false, &out, nullptr);
}

}  // namespace

VITRINE_KERNEL(sum_IntList_out, "aten::sum.IntList_out", sum<Sum>);
VITRINE_KERNEL(nansum_out, "aten::nansum.out", sum<SumOfNumbers>);
VITRINE_KERNEL(mean_dtype_out, "aten::mean.dtype_out", mean_dtype_out);
VITRINE_KERNEL(mean_out, "aten::mean.out", mean_out);
VITRINE_KERNEL(prod_int_out, "aten::prod.int_out", prod_int_out);
VITRINE_KERNEL(prod_out, "aten::prod.out", prod_out);
VITRINE_KERNEL(cumsum_out, "aten::cumsum.out", cumsum_out);
VITRINE_KERNEL(var_correction_out, "aten::var.correction_out", var_correction_out);
VITRINE_KERNEL(var_out, "aten::var.out", var_out);
VITRINE_KERNEL(var_mean_correction_out, "aten::var_mean.correction_out", var_mean_correction_out);
VITRINE_KERNEL(any_all_out, "aten::any.all_out", any_all_out);
VITRINE_KERNEL(any_dims_out, "aten::any.dims_out", any_dims_out);
VITRINE_KERNEL(any_out, "aten::any.out", any_out);
VITRINE_KERNEL(amax_out, "aten::amax.out", amax_out<Extremum::kLargest>);
VITRINE_KERNEL(argmax_out, "aten::argmax.out", argmax_out<Extremum::kLargest>);
VITRINE_KERNEL(max_dim_max, "aten::max.dim_max", max_dim_out<Extremum::kLargest>);
VITRINE_KERNEL(max_unary_out, "aten::max.unary_out", max_unary_out<Extremum::kLargest>);
VITRINE_KERNEL(amin_out, "aten::amin.out", amax_out<Extremum::kSmallest>);
VITRINE_KERNEL(argmin_out, "aten::argmin.out", argmax_out<Extremum::kSmallest>);
VITRINE_KERNEL(min_dim_min, "aten::min.dim_min", max_dim_out<Extremum::kSmallest>);
VITRINE_KERNEL(min_unary_out, "aten::min.unary_out", max_unary_out<Extremum::kSmallest>);

}  // namespace vitrine::portable
