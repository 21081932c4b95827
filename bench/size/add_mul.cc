#include "bench/size/register_kernels.h"

namespace vitrine {

namespace portable {
extern const Kernel kernel_add_out;
extern const Kernel kernel_mul_out;
}  // namespace portable

namespace size {

Error register_kernels(KernelRegistry& kernels) {
  static constexpr const Kernel* kTable[] = {&portable::kernel_add_out, &portable::kernel_mul_out};
  return kernels.add("size", kTable);
}

}  // namespace size
}  // namespace vitrine
