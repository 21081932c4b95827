#include "bench/size/kernels.h"

namespace vitrine::size {

Error add_kernels(KernelRegistry&) { return Error(); }

}  // namespace vitrine::size
