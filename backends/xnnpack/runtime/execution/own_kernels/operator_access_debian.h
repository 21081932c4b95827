// Accesses the members of XNNPACK 4ea82e5 (November 2024) that differ in 92a7ad5 (July 2026).
// operator_access_upstream.h is the counterpart for 92a7ad5. replacement.h includes one of the two
// files.
#pragma once

#include <type_traits>
#include <utility>

extern "C" {
#include "xnnpack/config.h"
#include "xnnpack/operator-utils.h"
#include "xnnpack/operator.h"
#include "xnnpack/reference-config.h"
#include "xnnpack/subgraph.h"
}

namespace vitrine::xnnpack::own_kernels {

using RuntimeTensor = xnn_value;

// Returns the parameters of a convolution or pooling. Do not call for other operators.
inline const xnn_operator& convolution_of(const xnn_operator& op) { return op; }

inline const xnn_ukernel_igemm& igemm_kernel_of(const xnn_operator& op) { return op.ukernel.igemm; }
inline igemm_context& igemm_context_of(xnn_operator& op) { return op.context.igemm.igemm; }

// XNNPACK runs a convolution with a window of one pixel as a matrix product of pixels and weights.
inline const xnn_ukernel_gemm& gemm_kernel_of(const xnn_operator& op) { return op.ukernel.gemm; }
inline gemm_context& gemm_context_of(xnn_operator& op) { return op.context.gemm.gemm.gemm; }

// True if the operator applies `function` to f32 values.
inline bool is_unary(const xnn_operator& op, xnn_unary_operator function) {
  if (op.type != xnn_operator_type_unary_elementwise) return false;
  return op.unary_elementwise_config ==
         (function == xnn_unary_exp
              ? xnn_init_f32_exp_config()
              : xnn_init_unary_reference_config(function, xnn_datatype_fp32, xnn_datatype_fp32));
}

inline xnn_vunary_ukernel_fn sigmoid_kernel() { return xnn_init_f32_sigmoid_config()->ukernel; }

using ProductContexts =
    std::remove_reference_t<decltype(std::declval<xnn_operator>().context.gemm)>;

inline const ProductContexts& product_contexts_of(const xnn_operator& op) {
  return op.context.gemm;
}
inline const gemm_context& gemm_context_of(const ProductContexts& contexts) {
  return contexts.gemm.gemm;
}

inline dwconv_context& depthwise_context_of(xnn_operator& op) { return op.context.dwconv.dwconv; }
// True if the int8 kernel of `config` runs `op`, its tiles of channels have a simple layout, and
// the window has exactly the size of the kernel.
inline bool runs_simple_tiles(const xnn_operator& op, const xnn_dwconv_config& config) {
  return config.minmax.unipass == op.ukernel.dwconv.unipass_fn && config.last_tile == 0 &&
         config.channel_subtile == config.channel_tile &&
         config.primary_tile == op.kernel_height * op.kernel_width;
}
// The stride in bytes from one pixel of the int8 result to the next.
inline size_t depthwise_pixel_stride(const dwconv_context& context) {
  return context.groups + context.output_increment;
}
inline bool is_f32_resize(const xnn_operator& op) {
  return op.type == xnn_operator_type_resize_bilinear_nhwc_f32;
}

// Returns a context member that only XNNPACK's own task reads. Vitrine's task replaces that task
// and can store another value in this member.
inline size_t& depthwise_spare(dwconv_context& context) { return context.buffer_size; }
inline size_t depthwise_spare(const dwconv_context& context) { return context.buffer_size; }

}  // namespace vitrine::xnnpack::own_kernels
