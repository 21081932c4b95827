// Leaves out kernels of the pin `upstream` that no payload uses, so that executables do not contain
// them. Each macro replaces the configuration of a family of kernels; XNNPACK then reports that the
// hardware lacks the family. All operators of XNNPACK include this header. The backend accepts only
// the nodes and dtypes of backends/xnnpack/runtime/reader/node_table.cc.
#pragma once

#include "src/xnnpack/config.h"

#define NO_GEMM ((const struct xnn_gemm_config*)NULL)
#define NO_UNARY ((const struct xnn_unary_elementwise_config*)NULL)
#define NO_BINARY ((const struct xnn_binary_elementwise_config*)NULL)
#define NO_REDUCTION ((const struct xnn_reduce_config*)NULL)

// Kernels for 2-bit weights, for static int8 with 4-bit weights, and for bf16 tensors.
#define xnn_init_qd8_f16_qc2w_gemm_config(...) NO_GEMM
#define xnn_init_qd8_f32_qc2w_gemm_config(...) NO_GEMM
#define xnn_init_qdu8_f16_qc2w_gemm_config(...) NO_GEMM
#define xnn_init_qdu8_f32_qc2w_gemm_config(...) NO_GEMM
#define xnn_init_qs8_qc2w_gemm_config(...) NO_GEMM
#define xnn_init_qs8_qc4w_gemm_config(...) NO_GEMM
#define xnn_init_bf16_f32_gemm_config(...) NO_GEMM
#define xnn_init_qd8_bf16_qb4w_gemm_config(...) NO_GEMM
#define xnn_init_bf16_rminmax_config(...) NO_REDUCTION
#define xnn_init_bf16_rmax_config(...) NO_REDUCTION
#define xnn_init_bf16_rmin_config(...) NO_REDUCTION
#define xnn_init_bf16_to_f32_cvt_config(...) NO_UNARY
#define xnn_init_bf16_to_qs8_cvt_config(...) NO_UNARY
#define xnn_init_bf16_to_qu8_cvt_config(...) NO_UNARY
#define xnn_init_f32_to_bf16_cvt_config(...) NO_UNARY

// Functions that no kind of node uses. The only reductions that nodes use are means.
#define xnn_init_f16_approxgelu_config(...) NO_UNARY
#define xnn_init_f32_approxgelu_config(...) NO_UNARY
#define xnn_init_f16_rndne_config(...) NO_UNARY
#define xnn_init_f32_rndne_config(...) NO_UNARY
#define xnn_init_f16_vsqrdiff_config(...) NO_BINARY
#define xnn_init_f32_vsqrdiff_config(...) NO_BINARY
#define xnn_init_f32_vcopysign_config(...) NO_BINARY
#define xnn_init_f16_rmin_config(...) NO_REDUCTION
#define xnn_init_f32_rmin_config(...) NO_REDUCTION
#define xnn_init_s8_rmax_config(...) NO_REDUCTION
#define xnn_init_s8_rmin_config(...) NO_REDUCTION
#define xnn_init_u8_rmin_config(...) NO_REDUCTION
#define xnn_init_f16_f32acc_rsum2_config(...) NO_REDUCTION
#define xnn_init_f32_rsum2_config(...) NO_REDUCTION

// Kernels for int8 PReLU. XNNPACK's reference kernel is still available.
#define xnn_init_qs8_vprelu_config(...) NO_BINARY
#define xnn_init_qu8_vprelu_config(...) NO_BINARY
