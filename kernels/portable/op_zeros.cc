#include <cstring>

#include "kernels/util/fill.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// In every dtype the bytes of zero are zeros.
void zeros_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  if (!resize_to(context, size, out) || out.numel() == 0) return;
  std::memset(out.mutable_raw_data(), 0, out.nbytes());
}

}  // namespace

VITRINE_KERNEL(zeros_out, "aten::zeros.out", zeros_out);

}  // namespace vitrine::portable
