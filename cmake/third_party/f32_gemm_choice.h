// Which of XNNPACK's f32 products suits a number of outputs best. Included in all of its operators:
// those that know the number ask here (VITRINE_SOURCE_FIXES in pins.cmake). Measured:
// docs/performance.md, "Few outputs".
#pragma once

#include <stddef.h>

struct xnn_gemm_config;

// Up to `few` outputs are computed two at a time. NULL on hardware without products.
__attribute__((visibility("hidden"))) const struct xnn_gemm_config* vitrine_f32_gemm_config(
    size_t outputs, size_t few);
