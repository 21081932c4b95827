// One line an operator: the id that its file gives to VITRINE_KERNEL. Sorted.
#include "kernels/quantized/quantized_kernels.h"

#include <iterator>

#include "kernels/util/selected_dtypes.h"

namespace vitrine::quantized {

#define X(id) extern const Kernel kernel_##id;
#include "kernels/quantized/kernel_list.inc"
#undef X

namespace {

// A selection may contain no kernel of this room, hence the last entry.
constexpr const Kernel* kTable[] = {
#define X(id) &kernel_##id,
#include "kernels/quantized/kernel_list.inc"
#undef X
    nullptr,
};

}  // namespace

KernelTable kernels() { return {std::span(kTable).first(std::size(kTable) - 1), kSelectedDtypes}; }

}  // namespace vitrine::quantized
