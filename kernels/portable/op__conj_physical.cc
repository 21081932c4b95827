#include "kernels/util/checks.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// T is the type of the real and imaginary parts, which are adjacent in memory.
template <class T>
void conjugate(const Tensor& self, Tensor& out) {
  const T* in = self.unchecked_data<T>();
  T* result = out.unchecked_mutable_data<T>();
  for (int64_t i = 0; i < 2 * out.numel(); i += 2) {
    result[i] = in[i];
    result[i + 1] = static_cast<T>(-static_cast<Compute<T>>(in[i + 1]));
  }
}

void conj_physical_out(KernelContext& context, const Tensor& self, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") || !context.resize(out, self.sizes()) ||
      !check_same_dim_order(context, self, out)) {
    return;
  }
  if (self.dtype() == ScalarType::kComplexHalf) return conjugate<Half>(self, out);
  if (self.dtype() == ScalarType::kComplexFloat) return conjugate<float>(self, out);
  if (self.dtype() == ScalarType::kComplexDouble) return conjugate<double>(self, out);
  fail_unsupported_dtype(context, self.dtype());
}

}  // namespace

VITRINE_KERNEL(conj_physical_out, "aten::_conj_physical.out", conj_physical_out);

}  // namespace vitrine::portable
