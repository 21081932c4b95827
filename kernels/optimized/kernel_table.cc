// One line an operator: the id that its file gives to VITRINE_OPTIMIZED_KERNEL. Sorted.
#include "kernels/optimized/optimized_kernels.h"

namespace vitrine::optimized {

#define X(id) extern const Kernel kernel_##id;
#include "kernels/optimized/kernel_list.inc"
#undef X

namespace {

constexpr const Kernel* kTable[] = {
#define X(id) &kernel_##id,
#include "kernels/optimized/kernel_list.inc"
#undef X
};

}  // namespace

KernelTable kernels() { return kTable; }

}  // namespace vitrine::optimized
