#include "bench/size/table.h"

namespace vitrine::size {

KernelTable kernels() { return {}; }

}  // namespace vitrine::size
