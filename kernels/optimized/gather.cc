// The operator gather for the last dimension of row-major tensors.
#include <atomic>
#include <cstdint>

#include "kernels/optimized/take_over.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

// Returns false if an index is out of range.
template <class Element>
bool gather_line(const void* from, int64_t size, const int64_t* index, int64_t count, void* to) {
  const auto* const source = static_cast<const Element*>(from);
  auto* const target = static_cast<Element*>(to);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = index[i];  // read once: another thread may write to the tensor
    if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(size)) return false;
    target[i] = source[at];
  }
  return true;
}

using GatherLine = bool (*)(const void*, int64_t, const int64_t*, int64_t, void*);
GatherLine line_of(size_t element_size) {
  switch (element_size) {
    case 1:
      return gather_line<uint8_t>;
    case 2:
      return gather_line<uint16_t>;
    case 4:
      return gather_line<uint32_t>;
    case 8:
      return gather_line<uint64_t>;
    default:
      return nullptr;
  }
}

bool gather_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                bool /*sparse_grad*/, Tensor& out) {
  const auto rank = static_cast<int64_t>(self.rank());
  const GatherLine line = line_of(self.element_size());
  if (rank == 0 || (dim != rank - 1 && dim != -1) || index.rank() != self.rank() ||
      index.dtype() != ScalarType::kLong || out.dtype() != self.dtype() || line == nullptr ||
      !self.is_contiguous() || !index.is_contiguous() || !out.is_contiguous()) {
    return false;
  }
  const auto last = static_cast<size_t>(rank - 1);
  for (size_t i = 0; i < last; ++i) {
    if (index.size(i) != self.size(i)) return false;
  }
  if (!context.resize(out, index.sizes())) return true;
  const int64_t from_length = self.size(last);
  const int64_t length = index.size(last);
  if (index.numel() == 0) return true;
  const auto size = static_cast<int64_t>(self.element_size());
  std::atomic<bool> all_in_range{true};
  parallel_ranges(context, index.numel() / length, 1, 8 * length, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const bool in_range =
          line(self.unchecked_data<std::byte>() + row * from_length * size, from_length,
               index.unchecked_data<int64_t>() + row * length, length,
               out.unchecked_mutable_data<std::byte>() + row * length * size);
      if (!in_range) all_in_range.store(false, std::memory_order_relaxed);
    }
  });
  return all_in_range;  // if false, the portable kernel reports the index
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(gather_out, "aten::gather.out", gather_out, portable)
