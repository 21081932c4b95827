#include "kernels/util/broadcast.h"

#include <algorithm>

namespace vitrine {

std::optional<std::span<const int32_t>> broadcast_sizes(KernelContext& context,
                                                        std::span<const Tensor* const> tensors,
                                                        std::span<int32_t> storage) {
  size_t rank = 0;
  for (const Tensor* tensor : tensors) rank = std::max(rank, tensor->rank());
  const std::span<int32_t> sizes = storage.first(rank);
  std::fill(sizes.begin(), sizes.end(), 1);
  for (const Tensor* tensor : tensors) {
    const size_t shift = rank - tensor->rank();
    for (size_t i = 0; i < tensor->rank(); ++i) {
      int32_t& size = sizes[shift + i];
      if (size == 1) {
        size = tensor->size(i);
      } else if (tensor->size(i) != 1 && tensor->size(i) != size) {
        context.fail(ErrorCode::kInvalidArgument,
                     "shapes do not broadcast: size %d of dimension %zu is neither 1 nor %d",
                     tensor->size(i), i, size);
        return std::nullopt;
      }
    }
  }
  return sizes;
}

void broadcast_strides(const Tensor& tensor, size_t rank, std::span<int64_t> strides) {
  const size_t shift = rank - tensor.rank();
  for (size_t i = 0; i < rank; ++i) {
    strides[i] = i < shift || tensor.size(i - shift) == 1 ? 0 : tensor.strides()[i - shift];
  }
}

int64_t repeat_period(const Tensor& tensor, const Tensor& out) {
  if (tensor.rank() > out.rank()) return 0;
  const size_t shift = out.rank() - tensor.rank();
  int64_t period = 1;  // elements in the dimensions inside the repeated dimensions
  bool repeats = false;
  for (size_t i = out.rank(); i-- > 0;) {
    const size_t dim = out.dim_order()[i];
    const int32_t size = dim < shift ? 1 : tensor.size(dim - shift);
    if (size == 1) {
      repeats = repeats || out.size(dim) != 1;
    } else if (repeats || size != out.size(dim) || tensor.strides()[dim - shift] != period) {
      return 0;
    } else {
      period *= size;
    }
  }
  return out.numel() == 0 ? 0 : period;
}

bool check_broadcastable(KernelContext& context, const Tensor& tensor,
                         std::span<const int32_t> sizes) {
  bool fits = tensor.rank() <= sizes.size();
  const size_t shift = sizes.size() - tensor.rank();
  for (size_t i = 0; fits && i < tensor.rank(); ++i) {
    fits = tensor.size(i) == 1 || tensor.size(i) == sizes[shift + i];
  }
  if (!fits) {
    char text[160];
    describe(tensor, text, sizeof text);
    context.fail(ErrorCode::kInvalidArgument, "%s does not broadcast to the output's shape", text);
  }
  return fits;
}

}  // namespace vitrine
