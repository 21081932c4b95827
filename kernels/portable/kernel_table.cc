// One line an operator: the id that its file gives to VITRINE_KERNEL. Sorted.
#include "kernels/portable/portable_kernels.h"

#include <iterator>

#include "kernels/util/selected_dtypes.h"

namespace vitrine::portable {

// Every kind of row begins with an id.
#define UNARY(id, ...) X(id)
#define BINARY(id, ...) X(id)
#define SCALED(id, ...) X(id)

#define X(id) extern const Kernel kernel_##id;
#include "kernels/portable/kernel_list.inc"
#undef X

namespace {

// A selection may contain no kernel of this room, hence the last entry.
constexpr const Kernel* kTable[] = {
#define X(id) &kernel_##id,
#include "kernels/portable/kernel_list.inc"
#undef X
    nullptr,
};

#undef UNARY
#undef BINARY
#undef SCALED

}  // namespace

KernelTable kernels() { return {std::span(kTable).first(std::size(kTable) - 1), kSelectedDtypes}; }

}  // namespace vitrine::portable
