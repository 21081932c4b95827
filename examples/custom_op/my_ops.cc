#include "my_ops.h"

#include <algorithm>
#include <span>

#include "vitrine/half.h"
#include "vitrine/kernel.h"

namespace my_ops {
namespace {

using vitrine::ErrorCode;
using vitrine::KernelContext;
using vitrine::Tensor;

using vitrine::ScalarType;

// Reports an error and returns false if the tensor has another dtype or is not in row-major order.
bool check_tensor(KernelContext& context, const Tensor& tensor, ScalarType dtype,
                  const char* name) {
  if (tensor.dtype() == dtype && tensor.is_contiguous()) return true;
  context.fail(ErrorCode::kInvalidArgument, "%s is %s%s, expected %s in row-major order", name,
               scalar_type_name(tensor.dtype()), tensor.is_contiguous() ? "" : " in another order",
               scalar_type_name(dtype));
  return false;
}

// Computes in float, as PyTorch does for half tensors.
template <class T>
void compute_leaky_hardsigmoid(const Tensor& self, float slope, Tensor& out) {
  for (int64_t i = 0; i < self.numel(); ++i) {
    const auto x = static_cast<float>(self.data<T>()[i]);
    float y = x / 6 + 0.5F;
    if (x < -3) y = slope * (x + 3);
    if (x > 3) y = 1 + slope * (x - 3);
    out.mutable_data<T>()[i] = static_cast<T>(y);
  }
}

void leaky_hardsigmoid(KernelContext& context, const Tensor& self, double slope, Tensor& out) {
  const ScalarType dtype =
      self.dtype() == ScalarType::kHalf ? ScalarType::kHalf : ScalarType::kFloat;
  if (!check_tensor(context, self, dtype, "self") || !check_tensor(context, out, dtype, "out") ||
      !context.resize(out, self.sizes())) {
    return;
  }
  if (dtype == ScalarType::kHalf) {
    compute_leaky_hardsigmoid<vitrine::Half>(self, static_cast<float>(slope), out);
  } else {
    compute_leaky_hardsigmoid<float>(self, static_cast<float>(slope), out);
  }
}

void subtract_median(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!check_tensor(context, self, ScalarType::kFloat, "self") ||
      !check_tensor(context, out, ScalarType::kFloat, "out")) {
    return;
  }
  if (self.rank() == 0) {
    return context.fail(ErrorCode::kInvalidArgument, "self must have at least one dimension");
  }
  if (!context.resize(out, self.sizes()) || self.numel() == 0) return;

  const auto length = static_cast<size_t>(self.size(self.rank() - 1));
  // This temporary memory is valid until the kernel returns.
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
