#include <span>

#include "kernels/util/fill.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void full_out(KernelContext& context, std::span<const int64_t> size, const Scalar& fill_value,
              Tensor& out) {
  if (resize_to(context, out, size)) fill(context, fill_value, out);
}

}  // namespace

VITRINE_KERNEL(full_out, "aten::full.out", full_out);

}  // namespace vitrine::portable
