#include "bench/size/table.h"

namespace vitrine {

namespace portable {
extern const Kernel kernel_add_out;
extern const Kernel kernel_mul_out;
}  // namespace portable

namespace size {

KernelTable kernels() {
  static constexpr const Kernel* kTable[] = {&portable::kernel_add_out, &portable::kernel_mul_out};
  return kTable;
}

}  // namespace size
}  // namespace vitrine
