#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>

#include "kernels/util/along_dim.h"
#include "kernels/util/arithmetic.h"
#include "kernels/util/checks.h"
#include "kernels/util/layout.h"
#include "kernels/util/order_key.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// A sort key and the index of its element. Keys are integers in the sort order of the elements, so
// that one comparison serves all dtypes.
struct SortKey {
  int64_t key;
  int64_t index;
  bool operator<(const SortKey& other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

template <class T>
void read_keys(const std::byte* values, int64_t stride, int64_t element_size,
               const Conversion& load, bool descending, std::span<SortKey> keys) {
  Chunk chunk;
  const int64_t length = static_cast<int64_t>(keys.size());
  for (int64_t done = 0; done < length; done += kChunkLength) {
    const int64_t count = std::min(kChunkLength, length - done);
    load.run(values + done * stride * element_size, stride, &chunk, 1, count);
    const T* numbers = reinterpret_cast<const T*>(&chunk);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t key = order_key(numbers[i]);
      keys[static_cast<size_t>(done + i)] = {descending ? ~key : key, done + i};
    }
  }
}

// Sorts each line along `dim`, which must be normalized by normalize_dim(). Writes the first
// `count` elements of each sorted line to `values`, and their indices in the unsorted line to
// `indices`. The sort is stable. NaN counts as larger than every number, as in PyTorch. `values`
// must have self's dtype (REALHBBF16) and `indices` must be Long. `count` must be from 0 to the
// length of a line. Allocates 16 bytes of temporary memory for each element of a line.
void sort_lines(KernelContext& context, const Tensor& self, size_t dim, int64_t count,
                bool descending, Tensor& values, Tensor& indices) {
  std::array<int32_t, kMaxRank> sizes;
  std::copy(self.sizes().begin(), self.sizes().end(), sizes.begin());
  if (self.rank() > 0) sizes[dim] = static_cast<int32_t>(count);
  const std::span<const int32_t> out_sizes(sizes.data(), self.rank());
  if (!check_dtype_in<RealHBBF16Types>(context, self) ||
      !check_dtype(context, values, self.dtype(), "values") ||
      !check_dtype(context, indices, ScalarType::kLong, "indices")) {
    return;
  }
  if (&values == &self || &indices == &self || &values == &indices) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "an output must not be self or the other output");
  }
  if (!context.resize(values, out_sizes) || !context.resize(indices, out_sizes)) return;
  const int64_t length = size_at(self, dim);
  if (self.numel() == 0 || count == 0) return;

  const std::span<SortKey> keys = context.allocate_temp_array<SortKey>(static_cast<size_t>(length));
  if (keys.empty()) return;
  const bool floating = is_floating(self.dtype());
  const ScalarType type = floating ? ScalarType::kDouble : ScalarType::kLong;
  Conversion load;
  if (!load.set(self.dtype(), type, type)) return fail_unsupported_dtype(context, self.dtype());

  const LineNest nest(self, dim);
  const std::array<int64_t, kMaxRank> strides[] = {
      line_strides(values, dim), line_strides(indices, dim), line_strides(self, dim)};
  const BoxLoop<3> loop(nest.shape(), {strides[0].data(), strides[1].data(), strides[2].data()});
  const int64_t element_size = static_cast<int64_t>(self.element_size());
  const int64_t stride = line_stride(self, dim);
  loop.run({}, [&](const BoxLoop<3>::Offsets& first, int64_t lines) {
    for (int64_t line = 0; line < lines; ++line) {
      const std::byte* from =
          self.unchecked_data<std::byte>() + (first[2] + line * loop.row_stride(2)) * element_size;
      if (floating) {
        read_keys<double>(from, stride, element_size, load, descending, keys);
      } else {
        read_keys<int64_t>(from, stride, element_size, load, descending, keys);
      }
      std::partial_sort(keys.data(), keys.data() + count, keys.data() + keys.size());
      std::byte* to = values.unchecked_mutable_data<std::byte>() +
                      (first[0] + line * loop.row_stride(0)) * element_size;
      int64_t* index_line =
          indices.unchecked_mutable_data<int64_t>() + first[1] + line * loop.row_stride(1);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t index = keys[static_cast<size_t>(i)].index;
        std::memcpy(to + i * line_stride(values, dim) * element_size,
                    from + index * stride * element_size, static_cast<size_t>(element_size));
        index_line[i * line_stride(indices, dim)] = index;
      }
    }
  });
}

void sort_values(KernelContext& context, const Tensor& self, int64_t dim, bool descending,
                 Tensor& values, Tensor& indices) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along) return;
  sort_lines(context, self, *along, size_at(self, *along), descending, values, indices);
}

// Ignores `stable`, because every sort is stable.
void sort_values_stable(KernelContext& context, const Tensor& self, std::optional<bool> /*stable*/,
                        int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  sort_values(context, self, dim, descending, values, indices);
}

// Ignores `sorted`: a sorted result is allowed even if `sorted` is false.
void topk_values(KernelContext& context, const Tensor& self, int64_t k, int64_t dim, bool largest,
                 bool /*sorted*/, Tensor& values, Tensor& indices) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along) return;
  if (k < 0 || k > size_at(self, *along)) {
    return context.fail(ErrorCode::kInvalidArgument, "k is %lld, expected 0 to %lld",
                        static_cast<long long>(k), static_cast<long long>(size_at(self, *along)));
  }
  sort_lines(context, self, *along, k, largest, values, indices);
}

// Counts the elements in `bins` bins of equal width from `min` to `max`. If `min` and `max` are
// equal, the bins cover the range of the elements.
void histc_out(KernelContext& context, const Tensor& self, int64_t bins, const Scalar& min,
               const Scalar& max, Tensor& out) {
  if (bins < 1) {
    return context.fail(ErrorCode::kInvalidArgument, "bins is %lld; it must be positive",
                        static_cast<long long>(bins));
  }
  if (!check_dtype_in<FloatHBF16Types>(context, self) ||
      !check_dtype(context, out, self.dtype(), "out") ||
      !resize_to(context, out, std::array{bins}) || !check_data(context, {&self, &out}) ||
      !check_no_overlap(context, out, {&self})) {
    return;
  }
  dispatch<FloatHBF16Types>(context, self.dtype(), [&]<class T>() {
    using C = Compute<T>;
    const T* const elements = self.unchecked_data<T>();
    T* const counts = out.unchecked_mutable_data<T>();
    std::fill_n(counts, bins, T(0));
    C low(min.to<C>());
    C high(max.to<C>());
    const int64_t numel = self.numel();  // the elements are dense
    if (low == high && numel > 0) {
      low = high = C(elements[0]);
      for (int64_t i = 1; i < numel; ++i) {
        low = smaller(low, C(elements[i]));
        high = larger(high, C(elements[i]));
      }
    }
    if (low == high) {
      low -= 1;
      high += 1;
    }
    if (!(std::isfinite(low) && std::isfinite(high) && low <= high)) {
      return context.fail(ErrorCode::kInvalidArgument,
                          "the range from %g to %g must be finite and ascending",
                          static_cast<double>(low), static_cast<double>(high));
    }
    for (int64_t i = 0; i < numel; ++i) {
      const C value(elements[i]);
      if (!(value >= low && value <= high)) continue;
      const C bin = (value - low) * static_cast<C>(bins) / (high - low);
      const int64_t at = bin < static_cast<C>(bins) ? static_cast<int64_t>(bin) : bins - 1;
      counts[std::min(at, bins - 1)] = T(C(counts[std::min(at, bins - 1)]) + C(1));
    }
  });
}

}  // namespace

VITRINE_KERNEL(histc_out, "aten::histc.out", histc_out);
VITRINE_KERNEL(sort_values, "aten::sort.values", sort_values);
VITRINE_KERNEL(sort_values_stable, "aten::sort.values_stable", sort_values_stable);
VITRINE_KERNEL(topk_values, "aten::topk.values", topk_values);

}  // namespace vitrine::portable
