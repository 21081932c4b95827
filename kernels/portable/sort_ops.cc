// Sorting along a dimension.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

#include "kernels/util/along_dim.h"
#include "kernels/util/checks.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Elements are compared by integers in the same order, so that one sort serves all dtypes.
struct Entry {
  int64_t key;
  int64_t index;
  bool operator<(const Entry& other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

int64_t order_key(int64_t value) { return value; }

int64_t order_key(double value) {
  if (value != value) return INT64_MAX;
  const int64_t bits = std::bit_cast<int64_t>(value);
  // Sign and magnitude; the two zeros are equal.
  return bits < 0 ? -(bits & INT64_MAX) : bits;
}

template <class T>
void read_keys(const std::byte* values, int64_t stride, int64_t element_size,
               const Conversion& load, bool descending, std::span<Entry> entries) {
  Chunk chunk;
  const int64_t length = static_cast<int64_t>(entries.size());
  for (int64_t done = 0; done < length; done += kChunkLength) {
    const int64_t count = std::min(kChunkLength, length - done);
    load.run(values + done * stride * element_size, stride, &chunk, 1, count);
    const T* numbers = reinterpret_cast<const T*>(&chunk);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t key = order_key(numbers[i]);
      entries[static_cast<size_t>(done + i)] = {descending ? ~key : key, done + i};
    }
  }
}

// The first `count` of each line along `dim` (as normalize_dim gives it) in ascending or descending
// order, and their places in the line. Stable; a NaN counts as larger than every number, as in
// PyTorch. `values` has self's dtype (REALHBBF16), `indices` is Long. 0 <= count <= the line's
// length. Takes 16 bytes of temporary memory an element of a line.
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
    return context.fail(ErrorCode::kInvalidArgument, "an output is also an argument");
  }
  if (!context.resize(values, out_sizes) || !context.resize(indices, out_sizes)) return;
  const int64_t length = size_at(self, dim);
  if (self.numel() == 0 || count == 0) return;

  const std::span<Entry> entries = context.allocate_temp_array<Entry>(static_cast<size_t>(length));
  if (entries.empty()) return;
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
        read_keys<double>(from, stride, element_size, load, descending, entries);
      } else {
        read_keys<int64_t>(from, stride, element_size, load, descending, entries);
      }
      std::partial_sort(entries.data(), entries.data() + count, entries.data() + entries.size());
      std::byte* to = values.unchecked_mutable_data<std::byte>() +
                      (first[0] + line * loop.row_stride(0)) * element_size;
      int64_t* places =
          indices.unchecked_mutable_data<int64_t>() + first[1] + line * loop.row_stride(1);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t index = entries[static_cast<size_t>(i)].index;
        std::memcpy(to + i * line_stride(values, dim) * element_size,
                    from + index * stride * element_size, static_cast<size_t>(element_size));
        places[i * line_stride(indices, dim)] = index;
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

// The order is always stable.
void sort_values_stable(KernelContext& context, const Tensor& self, std::optional<bool> /*stable*/,
                        int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  sort_values(context, self, dim, descending, values, indices);
}

// Any order is allowed without `sorted`.
void topk_values(KernelContext& context, const Tensor& self, int64_t k, int64_t dim, bool largest,
                 bool /*sorted*/, Tensor& values, Tensor& indices) {
  const std::optional<size_t> along = normalize_dim(context, dim, self.rank());
  if (!along) return;
  if (k < 0 || k > size_at(self, *along)) {
    return context.fail(ErrorCode::kInvalidArgument, "k is %lld, not in 0 to %lld",
                        static_cast<long long>(k), static_cast<long long>(size_at(self, *along)));
  }
  sort_lines(context, self, *along, k, largest, values, indices);
}

}  // namespace

VITRINE_KERNEL(sort_values, "aten::sort.values", sort_values);
VITRINE_KERNEL(sort_values_stable, "aten::sort.values_stable", sort_values_stable);
VITRINE_KERNEL(topk_values, "aten::topk.values", topk_values);

}  // namespace vitrine::portable
