#include <span>

#include "kernels/util/fill.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void ones_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  if (resize_to(context, out, size)) fill(context, int64_t{1}, out);
}

}  // namespace

VITRINE_KERNEL(ones_out, "aten::ones.out", ones_out);

}  // namespace vitrine::portable
