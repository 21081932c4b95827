#include "bench/size/register_kernels.h"

namespace vitrine::size {

Error register_kernels(KernelRegistry&) { return Error(); }

}  // namespace vitrine::size
