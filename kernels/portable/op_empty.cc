#include <optional>
#include <span>

#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// The elements are uninitialised.
void empty_out(KernelContext& context, std::span<const int64_t> size,
               std::optional<int64_t> /*memory_format*/, Tensor& out) {
  static_cast<void>(resize_to(context, out, size));
}

}  // namespace

VITRINE_KERNEL(empty_out, "aten::empty.out", empty_out);

}  // namespace vitrine::portable
