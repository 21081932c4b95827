// Leaves out the kernels of the pin `upstream` that emulate FMA with SSE2. XNNPACK uses them only
// if a flag is set, which the backend never sets. XNNPACK's choice of kernels includes this header.
#pragma once

#include "src/xnnpack/vunary.h"

#define xnn_f32_vapproxgelu_ukernel__sse2fma_rational_12_10_div_u8 NULL
#define xnn_f32_vcos_ukernel__sse2fma_rational_5_4_div_u8 NULL
#define xnn_f32_vexp_ukernel__sse2fma_rational_3_2_div_u8 NULL
#define xnn_f32_vgelu_ukernel__sse2fma_rational_12_10_div_u8 NULL
#define xnn_f32_vhswish_ukernel__sse2fma_u8 NULL
#define xnn_f32_vlog_ukernel__sse2fma_rational_3_3_div_u8 NULL
#define xnn_f32_vsin_ukernel__sse2fma_rational_5_4_div_u8 NULL
#define xnn_f32_vtanh_ukernel__sse2fma_rational_9_8_div_u8 NULL
