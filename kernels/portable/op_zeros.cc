#include <cstring>
#include <span>

#include "kernels/util/fill.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// In every dtype the bytes of zero are zeros.
void zeros_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  if (!resize_to(context, out, size) || out.numel() == 0) return;
  std::memset(out.mutable_raw_data(), 0, out.nbytes());
}

}  // namespace

VITRINE_KERNEL(zeros_out, "aten::zeros.out", zeros_out);

}  // namespace vitrine::portable
