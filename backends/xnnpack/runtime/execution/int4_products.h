// Matrix products of int8 activations and int4 weights with a scale per block, for x86 with
// AVX512-VNNI. They read the weights of four inputs at a time. XNNPACK's kernels read eight, and
// add the two halves of each sum after every block. A prompt spends most of its time here
// (docs/performance_llm.md).
#pragma once

#include <cstddef>
#include <cstdint>

struct xnn_f32_qb4w_minmax_params;
struct xnn_qd8_quantization_params;

namespace vitrine::xnnpack {

// Same as xnn_qd8_f32_qb4w_gemm_minmax_ukernel_fn: writes `rows` (1 to kInt4ProductRows) x
// `columns` floats to `output`, from `depth` values of each row of `input` and weights that are
// packed for nr 16 and kr 4. Strides are in bytes. `quantization` has an element for each row.
using MultiplyInt4 = void (*)(size_t rows, size_t columns, size_t depth, const int8_t* input,
                              size_t input_stride, const void* weights, float* output,
                              size_t output_row_stride, size_t output_tile_stride,
                              const xnn_f32_qb4w_minmax_params* params,
                              const xnn_qd8_quantization_params* quantization);

inline constexpr size_t kInt4ProductRows = 12;

// Null if the processor lacks AVX512-VNNI or the build lacks XNNPACK's private headers.
MultiplyInt4 fast_int4_products();

// Makes XNNPACK use these products. Call after XNNPACK is initialized and before other threads use
// it.
void use_fast_int4_products();

}  // namespace vitrine::xnnpack
