#include "kernels/optimized/as_float.h"

#include <algorithm>

#include "kernels/optimized/simd/convert.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

bool is_reduced_float(ScalarType dtype) {
  return dtype == ScalarType::kHalf || dtype == ScalarType::kBFloat16;
}

bool FloatCopy::make(KernelContext& context, const Tensor& like, FloatCopy& copy) {
  std::ranges::copy(like.sizes(), copy.sizes_.begin());
  std::ranges::copy(like.dim_order(), copy.dim_order_.begin());
  void* const data = context.allocate_temp({like.numel(), sizeof(float)});
  if (data == nullptr) return false;
  copy.tensor_ = Tensor(ScalarType::kFloat, std::span(copy.sizes_).first(like.rank()),
                        std::span(copy.dim_order_).first(like.rank()),
                        std::span(copy.strides_).first(like.rank()), data);
  return true;
}

void FloatCopy::read(KernelContext& context, const Tensor& from) {
  const simd::Convert convert = simd::to_float(from.dtype());
  const auto* const source = from.unchecked_data<std::byte>();
  const auto size = static_cast<int64_t>(from.element_size());
  auto* const target = tensor_.unchecked_mutable_data<float>();
  parallel_ranges(context, from.numel(), kGrain, 6, [&](int64_t begin, int64_t end) {
    convert(source + begin * size, target + begin, end - begin);
  });
}

void FloatCopy::write(KernelContext& context, Tensor& to) const {
  const simd::Convert convert = simd::from_float(to.dtype());
  const auto* const source = tensor_.unchecked_data<float>();
  auto* const target = to.unchecked_mutable_data<std::byte>();
  const auto size = static_cast<int64_t>(to.element_size());
  parallel_ranges(context, to.numel(), kGrain, 6, [&](int64_t begin, int64_t end) {
    convert(source + begin, target + begin * size, end - begin);
  });
}

}  // namespace vitrine::optimized
