#include "kernels/util/along_dim.h"

namespace vitrine {

bool make_line_format(KernelContext& context, const Tensor& in, ScalarType common, ScalarType type,
                      const Tensor& out, LineFormat& format) {
  format.in_size = static_cast<int64_t>(in.element_size());
  format.out_size = static_cast<int64_t>(out.element_size());
  if (!format.load.set(in.dtype(), common, type)) {
    fail_unsupported_dtype(context, in.dtype());
    return false;
  }
  if (!format.store.set(type, common, out.dtype())) {
    fail_unsupported_dtype(context, out.dtype());
    return false;
  }
  return true;
}

LineNest::LineNest(const Tensor& tensor, size_t dim) {
  for (size_t i = 0; i < tensor.rank(); ++i) {
    if (i != dim) sizes[rank++] = tensor.size(i);
  }
}

std::array<int64_t, kMaxRank> line_strides(const Tensor& tensor, size_t dim) {
  std::array<int64_t, kMaxRank> strides;
  size_t rank = 0;
  for (size_t i = 0; i < tensor.rank(); ++i) {
    if (i != dim) strides[rank++] = tensor.strides()[i];
  }
  return strides;
}

}  // namespace vitrine
