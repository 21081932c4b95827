#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"
#include "kernels/util/layout.h"
#include "kernels/util/order_key.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Views a tensor as slices along `dim`. Without `dim`, each element is a slice.
class Slices {
 public:
  Slices(const Tensor& tensor, std::optional<size_t> dim) : layout_(tensor) {
    if (!dim) {
      count_ = tensor.numel();
      return;
    }
    count_ = layout_.sizes[*dim];
    inner_ = 1;
    for (size_t i = *dim + 1; i < layout_.rank; ++i) inner_ *= layout_.sizes[i];
    width_ = count_ == 0 ? 0 : tensor.numel() / count_;
  }

  int64_t count() const { return count_; }
  int64_t width() const { return width_; }
  // Offset of a slice's element `i` in the tensor's memory.
  int64_t offset_of(int64_t slice, int64_t i) const {
    return layout_.offset_of((i / inner_ * count_ + slice) * inner_ + i % inner_);
  }

 private:
  Layout layout_;
  int64_t count_ = 0;
  int64_t inner_ = 1;
  int64_t width_ = 1;
};

struct UniqueResults {
  Tensor& values;
  Tensor& inverse;
  Tensor& counts;
};

struct UniqueRequest {
  bool sorts;
  bool needs_inverse;
  bool needs_counts;
};

bool check_unique(KernelContext& context, const Tensor& self, const UniqueResults& to) {
  return check_dtype_in<RealHBBF16Types>(context, self) &&
         check_dtype(context, to.values, self.dtype(), "out0") &&
         check_dtype(context, to.inverse, ScalarType::kLong, "out1") &&
         check_dtype(context, to.counts, ScalarType::kLong, "out2") && check_data(context, {&self});
}

bool resize_results(KernelContext& context, const Tensor& self, std::optional<size_t> dim,
                    const UniqueRequest& request, int64_t found, const UniqueResults& to) {
  std::array<int64_t, kMaxRank> sizes{found};
  const size_t rank = dim ? self.rank() : 1;
  if (dim) std::copy_n(self.sizes().begin(), rank, sizes.begin());
  sizes[dim.value_or(0)] = found;
  const std::array<int32_t, 1> none = {0};
  const std::array<int32_t, 1> slices = {dim ? self.sizes()[*dim] : 0};
  const std::span<const int32_t> inverse_sizes = !request.needs_inverse ? std::span(none)
                                                 : dim                  ? std::span(slices)
                                                                        : self.sizes();
  return resize_to(context, to.values, std::span(sizes.data(), rank)) &&
         context.resize(to.inverse, inverse_sizes) &&
         resize_to(context, to.counts, std::array{request.needs_counts ? found : 0}) &&
         check_data(context, {&to.values, &to.inverse, &to.counts}) &&
         check_no_overlap(context, to.values, {&self, &to.inverse, &to.counts}) &&
         check_no_overlap(context, to.inverse, {&self, &to.counts}) &&
         check_no_overlap(context, to.counts, {&self});
}

// Finds the distinct slices along `dim`, or the distinct elements without `dim`. If request.sorts
// is true, the results are in ascending order. Otherwise, only equal neighbors are merged.
// inverse[i] is the index in `values` of self's slice i. counts[j] is the number of self's slices
// in slice j of `values`. Results that are not requested are empty. A NaN differs from every
// element, as in PyTorch. Uses 8 bytes of temporary memory for each element, and 8 bytes for each
// slice.
void find_unique(KernelContext& context, const Tensor& self, std::optional<size_t> dim,
                 const UniqueRequest& request, const UniqueResults& to) {
  if (!check_unique(context, self, to)) return;
  const Slices from(self, dim);
  if (from.count() > 0 && from.width() == 0) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "the slices along the dimension have no elements");
  }
  const auto count = static_cast<size_t>(from.count());
  const auto width = static_cast<size_t>(from.width());
  const std::span<int64_t> keys = context.allocate_temp_array<int64_t>(count * width);
  const std::span<int64_t> order = context.allocate_temp_array<int64_t>(count);
  if (keys.size() != count * width || order.size() != count) return;
  dispatch<RealHBBF16Types>(context, self.dtype(), [&]<class T>() {
    using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    int64_t* key = keys.data();
    for (int64_t slice = 0; slice < from.count(); ++slice) {
      order[static_cast<size_t>(slice)] = slice;
      for (int64_t i = 0; i < from.width(); ++i) {
        const T value = load(&self.unchecked_data<T>()[from.offset_of(slice, i)]);
        *key++ = order_key(static_cast<Wide>(value));
      }
    }
  });
  if (context.failed()) return;
  const auto keys_of = [&](int64_t slice) {
    return keys.subspan(static_cast<size_t>(slice) * width, width);
  };
  if (request.sorts) {
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const auto [x, y] = std::ranges::mismatch(keys_of(a), keys_of(b));
      return x == keys_of(a).end() ? a < b : *x < *y;
    });
  }
  const bool has_nan = is_floating(self.dtype());
  const auto begins = [&](size_t i) {
    if (i == 0) return true;
    const std::span<const int64_t> slice = keys_of(order[i]);
    return !std::ranges::equal(slice, keys_of(order[i - 1])) ||
           (has_nan && std::ranges::find(slice, kNanKey) != slice.end());
  };
  int64_t found = 0;
  for (size_t i = 0; i < count; ++i) found += begins(i) ? 1 : 0;
  if (!resize_results(context, self, dim, request, found, to)) return;
  const Slices values(to.values, dim);
  const Layout inverse_layout(to.inverse);
  const size_t element_size = self.element_size();
  int64_t* const indices = to.inverse.unchecked_mutable_data<int64_t>();
  int64_t* const counts = to.counts.unchecked_mutable_data<int64_t>();
  int64_t group = -1;
  for (size_t i = 0; i < count; ++i) {
    if (begins(i)) {
      ++group;
      for (int64_t j = 0; j < from.width(); ++j) {
        std::memcpy(to.values.unchecked_mutable_data<std::byte>() +
                        static_cast<size_t>(values.offset_of(group, j)) * element_size,
                    self.unchecked_data<std::byte>() +
                        static_cast<size_t>(from.offset_of(order[i], j)) * element_size,
                    element_size);
      }
      if (request.needs_counts) counts[group] = 0;
    }
    if (request.needs_counts) ++counts[group];
    if (request.needs_inverse) indices[inverse_layout.offset_of(order[i])] = group;
  }
}

// Ignores `sorted`: a sorted result is allowed even if `sorted` is false.
void unique2_out(KernelContext& context, const Tensor& self, bool /*sorted*/, bool return_inverse,
                 bool return_counts, Tensor& out0, Tensor& out1, Tensor& out2) {
  find_unique(context, self, {}, {true, return_inverse, return_counts}, {out0, out1, out2});
}

// Always returns the inverse and the counts, as PyTorch does on a CPU.
void unique_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool /*sorted*/,
                    bool /*return_inverse*/, bool /*return_counts*/, Tensor& out0, Tensor& out1,
                    Tensor& out2) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along) return;
  if (self.rank() == 0) {
    return context.fail(ErrorCode::kInvalidArgument, "self must have at least one dimension");
  }
  find_unique(context, self, along, {true, true, true}, {out0, out1, out2});
}

// `dim` implies the inverse and the counts, as in PyTorch. Exception: a `dim` of 0 (not -1) for a
// 0-d or 1-d tensor.
void unique_consecutive_out(KernelContext& context, const Tensor& self, bool return_inverse,
                            bool return_counts, std::optional<int64_t> dim, Tensor& out0,
                            Tensor& out1, Tensor& out2) {
  if (!dim || (*dim == 0 && self.rank() <= 1)) {
    return find_unique(context, self, {}, {false, return_inverse, return_counts},
                       {out0, out1, out2});
  }
  std::optional<size_t> along = normalize_dim(context, *dim, self.rank());
  if (!along) return;
  if (self.rank() == 0) along.reset();
  find_unique(context, self, along, {false, true, true}, {out0, out1, out2});
}

}  // namespace

VITRINE_KERNEL(_unique2_out, "aten::_unique2.out", unique2_out);
VITRINE_KERNEL(unique_consecutive_out, "aten::unique_consecutive.out", unique_consecutive_out);
VITRINE_KERNEL(unique_dim_out, "aten::unique_dim.out", unique_dim_out);

}  // namespace vitrine::portable
