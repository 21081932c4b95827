// The operator permute_copy for transposes of a Float matrix or of every matrix of a batch.
#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/optimized/simd/transpose.h"
#include "kernels/optimized/take_over.h"
#include "kernels/util/layout.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

// Maximum size for this kernel. The portable kernel stores larger tensors past the cache.
constexpr int64_t kMaxElements = int64_t{1} << 22;
// The portable kernel also copies large tensors with a stride that is a multiple of kLineStride. It
// reads entire cache lines, because few lines at such a stride fit into the cache.
constexpr int64_t kLargeElements = int64_t{1} << 17;
constexpr int64_t kLineStride = 512;
constexpr int64_t kMinSide = 8;
constexpr int64_t kRowBlock = 64;  // rows of the result that a thread copies at a time

bool permute(std::span<const int64_t> dims, Layout& layout) {
  if (dims.size() != layout.rank) return false;
  std::array<size_t, kMaxRank> order{};
  uint32_t seen = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = dims[i] + (dims[i] < 0 ? static_cast<int64_t>(layout.rank) : 0);
    if (dim < 0 || dim >= static_cast<int64_t>(layout.rank)) return false;
    order[i] = static_cast<size_t>(dim);
    seen |= 1U << order[i];
  }
  if (seen != (1U << layout.rank) - 1) return false;
  layout.permute(std::span<const size_t>(order.data(), layout.rank));
  return true;
}

// Removes dimensions of size 1, and merges adjacent dimensions that one stride can describe.
Layout merged(const Layout& layout) {
  Layout result;
  for (size_t i = 0; i < layout.rank; ++i) {
    const int64_t size = layout.sizes[i];
    const int64_t stride = layout.strides[i];
    if (size == 1) continue;
    if (result.rank > 0 && result.strides[result.rank - 1] == size * stride) {
      result.sizes[result.rank - 1] *= size;
      result.strides[result.rank - 1] = stride;
      continue;
    }
    result.sizes[result.rank] = size;
    result.strides[result.rank++] = stride;
  }
  return result;
}

bool permute_copy_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dims,
                      Tensor& out) {
  if (self.dtype() != ScalarType::kFloat || out.dtype() != ScalarType::kFloat ||
      self.numel() > kMaxElements || self.numel() == 0 || !out.is_contiguous()) {
    return false;
  }
  Layout view(self);
  if (!permute(dims, view)) return false;
  const Layout matrices = merged(view);
  if (matrices.rank < 2 || matrices.rank > 3) return false;
  const size_t last = matrices.rank - 1;
  const int64_t rows = matrices.sizes[last - 1];
  const int64_t columns = matrices.sizes[last];
  const bool is_interleaved = columns <= simd::kMaxInterleaved;
  if (matrices.strides[last - 1] != 1 || rows < kMinSide) return false;
  if (!is_interleaved && (columns < kMinSide || (self.numel() > kLargeElements &&
                                                 matrices.strides[last] % kLineStride == 0))) {
    return false;
  }
  std::array<int32_t, kMaxRank> sizes{};
  std::copy_n(view.sizes.begin(), view.rank, sizes.begin());
  if (!context.resize(out, std::span<const int32_t>(sizes.data(), view.rank))) return true;
  const auto* const from = self.unchecked_data<float>();
  auto* const to = out.unchecked_mutable_data<float>();
  if (from == nullptr || to == nullptr || !out.is_contiguous() ||
      (from < to + out.numel() && to < from + self.numel())) {
    return false;
  }
  const int64_t batch_stride = matrices.rank == 3 ? matrices.strides[0] : 0;
  const int64_t block_rows = is_interleaved ? 16 * kRowBlock : kRowBlock;
  const int64_t blocks = (rows + block_rows - 1) / block_rows;
  const int64_t batches = matrices.rank == 3 ? matrices.sizes[0] : 1;
  parallel(context, batches * blocks, work_of({self.numel(), 8}), [&](int64_t item, int64_t) {
    const int64_t batch = item / blocks;
    const int64_t row = item % blocks * block_rows;
    simd::transpose(from + batch * batch_stride + row, matrices.strides[last],
                    to + (batch * rows + row) * columns, columns, std::min(block_rows, rows - row),
                    columns);
  });
  return true;
}

}  // namespace

}  // namespace vitrine::optimized

VITRINE_OPTIMIZED_KERNEL(permute_copy_out, "aten::permute_copy.out", permute_copy_out, portable)
