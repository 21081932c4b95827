// Accesses the members of XNNPACK 92a7ad5 (July 2026) that differ in 4ea82e5 (November 2024).
// operator_access_debian.h is the counterpart for 4ea82e5. replacement.h includes one of the two
// files.
#pragma once

#include <cstddef>
#include <type_traits>

extern "C" {
#include "xnnpack/config.h"
#include "xnnpack/operator-utils.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"
}

namespace vitrine::xnnpack::own_kernels {

// A task whose context_offset is 0 receives the first member of its operator's context.
static_assert(offsetof(igemm_op_context, igemm) == 0 && offsetof(gemm_op_context, gemm) == 0 &&
              offsetof(dwconv_op_context, dwconv) == 0);
static_assert(std::is_same_v<decltype(xnn_operator::convolution_op), xnn_convolution_operator*>);
static_assert(std::is_same_v<decltype(xnn_operator::compute), compute_parameters*>);
static_assert(std::is_same_v<decltype(xnn_ukernel::igemm), xnn_ukernel_igemm*>);

using RuntimeTensor = xnn_runtime_value;

// Returns the parameters of a convolution or pooling. Do not call for other operators.
inline const xnn_convolution_operator& convolution_of(const xnn_operator& op) {
  return *op.convolution_op;
}

inline const xnn_ukernel_igemm& igemm_kernel_of(const xnn_operator& op) {
  return *op.ukernel.igemm;
}
inline igemm_context& igemm_context_of(xnn_operator& op) { return op.dynamic_context.igemm->igemm; }

// This version runs a convolution with a window of one pixel as a fully connected operator. The
// next two functions are therefore not called for convolutions.
inline const xnn_ukernel_gemm& gemm_kernel_of(const xnn_operator& op) {
  return op.ukernel.gemm_ukernels->gemm;
}
inline gemm_context& gemm_context_of(xnn_operator& op) { return op.dynamic_context.gemm->gemm; }

inline bool is_unary(const xnn_operator& op, xnn_unary_operator function) {
  // For the functions that Vitrine replaces, f32 is XNNPACK's only type of 4 bytes.
  constexpr uint8_t kLog2Bytes = 2;
  return op.type == xnn_operator_type_unary_elementwise &&
         op.unary_elementwise.op_type == function &&
         op.unary_elementwise.log2_input_size == kLog2Bytes &&
         op.unary_elementwise.log2_output_size == kLog2Bytes;
}

inline xnn_vunary_ukernel_fn sigmoid_kernel() { return xnn_init_f32_sigmoid_config(0)->ukernel; }

using ProductContexts = gemm_op_context;

inline const ProductContexts& product_contexts_of(const xnn_operator& op) {
  return *op.dynamic_context.gemm;
}
inline const gemm_context& gemm_context_of(const ProductContexts& contexts) {
  return contexts.gemm;
}

inline dwconv_context& depthwise_context_of(xnn_operator& op) {
  return op.dynamic_context.dwconv->dwconv;
}
// True if the int8 kernel of `config` runs `op`, and the window has exactly the size of the kernel.
inline bool runs_simple_tiles(const xnn_operator& op, const xnn_dwconv_config& config) {
  const xnn_convolution_operator& convolution = convolution_of(op);
  return config.minmax == op.ukernel.dwconv.ukernel &&
         config.primary_tile == convolution.kernel_height * convolution.kernel_width;
}
// The stride in bytes from one pixel of the int8 result to the next.
inline size_t depthwise_pixel_stride(const dwconv_context& context) {
  return context.output_pixel_stride;
}
inline bool is_f32_resize(const xnn_operator& op) {
  return op.type == xnn_operator_type_resize_bilinear_nhwc &&
         op.ibilinear_config == xnn_init_f32_ibilinear_config();
}

// Returns a context member that only XNNPACK's own task reads. Vitrine's task replaces that task
// and can store another value in this member.
inline size_t& depthwise_spare(dwconv_context& context) { return context.weights_channel_stride; }
inline size_t depthwise_spare(const dwconv_context& context) {
  return context.weights_channel_stride;
}

}  // namespace vitrine::xnnpack::own_kernels
