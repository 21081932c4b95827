// One line an operator: the id that its file gives to VITRINE_KERNEL. Sorted.
#include "kernels/portable/portable_kernels.h"

namespace vitrine::portable {

#define X(id) extern const Kernel kernel_##id;
#include "kernels/portable/kernel_list.inc"
#undef X

namespace {

constexpr const Kernel* kTable[] = {
#define X(id) &kernel_##id,
#include "kernels/portable/kernel_list.inc"
#undef X
};

}  // namespace

KernelTable kernels() { return kTable; }

}  // namespace vitrine::portable
