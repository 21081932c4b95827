// Computes f32 SiLU with XNNPACK's kernels for sigmoid and multiplication, so results are the same
// as with two operators. Works in blocks that stay in the cache.
#include <algorithm>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "backends/xnnpack/runtime/execution/silu_fusion.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

bool is_silu(const xnn_operator& op) { return is_unary(op, kSiluPlaceholder); }

void compute_silu(size_t bytes, const void* in, void* out, const xnn_unary_uparams*) {
  constexpr size_t kBlockBytes = 4096;
  alignas(64) std::byte sigmoids[kBlockBytes + XNN_EXTRA_BYTES];
  const xnn_vunary_ukernel_fn sigmoid = sigmoid_kernel();
  const xnn_vbinary_ukernel_fn multiply = xnn_init_f32_vmul_config()->op_ukernel;
  for (size_t start = 0; start < bytes; start += kBlockBytes) {
    const size_t size = std::min(kBlockBytes, bytes - start);
    const void* const x = static_cast<const std::byte*>(in) + start;
    sigmoid(size, x, sigmoids, nullptr);  // f32 sigmoids do not have parameters
    multiply(size, x, sigmoids, static_cast<std::byte*>(out) + start, nullptr);
  }
}

void use_silu(xnn_operator& op, const std::byte*) { use_unary_kernel(op, &compute_silu); }

}  // namespace

// This kernel must support all sizes, because it runs every operator that silu_fusion.h inserts.
const Replacement kSilu = {
    .name = "Vitrine SiLU (NC, F32)", .fits = &is_silu, .install = &use_silu, .is_required = true};

}  // namespace vitrine::xnnpack::own_kernels
