// Chooses XNNPACK's GEMM kernels for f32 layers. For layers with few outputs, these kernels are
// faster than XNNPACK's own choice (docs/performance.md, "Few outputs"). The build of the pin
// `debian` includes this header in all XNNPACK operators. Operators that know the number of outputs
// call vitrine_f32_gemm_config().
#pragma once

#include <stddef.h>

struct xnn_gemm_config;

// Returns kernels for this number of outputs, or NULL if XNNPACK has no f32 GEMM for this hardware.
// If `outputs` is at most `few`, the kernels compute two outputs at a time.
__attribute__((visibility("hidden"))) const struct xnn_gemm_config* vitrine_f32_gemm_config(
    size_t outputs, size_t few);
