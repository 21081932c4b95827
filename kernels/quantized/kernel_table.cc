// One line an operator: the id that its file gives to VITRINE_KERNEL. Sorted.
#include "kernels/quantized/quantized_kernels.h"

namespace vitrine::quantized {

#define X(id) extern const Kernel kernel_##id;
#include "kernels/quantized/kernel_list.inc"
#undef X

namespace {

constexpr const Kernel* kTable[] = {
#define X(id) &kernel_##id,
#include "kernels/quantized/kernel_list.inc"
#undef X
};

}  // namespace

KernelTable kernels() { return kTable; }

}  // namespace vitrine::quantized
