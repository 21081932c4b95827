#include "examples/custom_op/my_ops.h"

#include <algorithm>
#include <span>

#include "kernels/util/checks.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace my_ops {
namespace {

using vitrine::ErrorCode;
using vitrine::KernelContext;
using vitrine::Tensor;

// An element-wise operator needs only a formula. The family handles dtypes, broadcasting, strides
// and the shape of `out`.
void leaky_hardsigmoid(KernelContext& context, const Tensor& self, double slope, Tensor& out) {
  vitrine::unary_floating(context, self, out, [slope]<class T>(T x) {
    const T leak = static_cast<T>(slope);
    if (x < T(-3)) return leak * (x + T(3));
    if (x > T(3)) return T(1) + leak * (x - T(3));
    return x / T(6) + T(0.5);
  });
}

// Without a family: check, resize, compute.
void subtract_median(KernelContext& context, const Tensor& self, Tensor& out) {
  using vitrine::ScalarType;
  if (!vitrine::check_dtype(context, self, ScalarType::kFloat, "self") ||
      !vitrine::check_dtype(context, out, ScalarType::kFloat, "out") ||
      !vitrine::check_contiguous(context, self, "self") ||
      !vitrine::check_contiguous(context, out, "out")) {
    return;
  }
  if (self.rank() == 0) {
    return context.fail(ErrorCode::kInvalidArgument, "self must have at least one dimension");
  }
  if (!context.resize(out, self.sizes()) || self.numel() == 0) return;

  const auto length = static_cast<size_t>(self.size(self.rank() - 1));
  // Ours until we return. Only the first executions allocate it from the heap.
  const std::span<float> sorted = context.allocate_temp_array<float>(length);
  if (sorted.empty()) return;  // the context has failed
  const std::span<const float> from(self.data<float>(), static_cast<size_t>(self.numel()));
  const std::span<float> to(out.mutable_data<float>(), from.size());
  for (size_t start = 0; start < from.size(); start += length) {
    const std::span<const float> row = from.subspan(start, length);
    std::copy(row.begin(), row.end(), sorted.begin());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((length - 1) / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    for (size_t i = 0; i < length; ++i) to[start + i] = row[i] - *middle;
  }
}

VITRINE_KERNEL(leaky_hardsigmoid, "my_ops::leaky_hardsigmoid.out", leaky_hardsigmoid);
VITRINE_KERNEL(subtract_median, "my_ops::subtract_median.out", subtract_median);

constexpr const vitrine::Kernel* kTable[] = {&kernel_leaky_hardsigmoid, &kernel_subtract_median};

}  // namespace

vitrine::KernelTable kernels() { return kTable; }

}  // namespace my_ops
