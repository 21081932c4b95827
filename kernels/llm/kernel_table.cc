// One line an operator: the id that its file gives to VITRINE_KERNEL. Sorted.
#include "kernels/llm/llm_kernels.h"

#include <iterator>

#include "kernels/util/selected_dtypes.h"

namespace vitrine::llm {

#define X(id) extern const Kernel kernel_##id;
#include "kernels/llm/kernel_list.inc"
#undef X

namespace {

// A selection may have none of this room's: hence the last one.
constexpr const Kernel* kTable[] = {
#define X(id) &kernel_##id,
#include "kernels/llm/kernel_list.inc"
#undef X
    nullptr,
};

}  // namespace

KernelTable kernels() { return {std::span(kTable).first(std::size(kTable) - 1), kSelectedDtypes}; }

}  // namespace vitrine::llm
