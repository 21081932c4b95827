// Products of activations of 8 bits with weights of 4 bits that have a scale a block, for x86 with
// AVX512-VNNI. They read weights four columns at a time; XNNPACK's own read eight, and add halves
// of each sum after every block. A prompt takes most of its time here (docs/performance_llm.md).
#pragma once

#include <cstddef>
#include <cstdint>

struct xnn_f32_qb4w_minmax_params;
struct xnn_qd8_quantization_params;

namespace vitrine::xnnpack {

// As xnn_qd8_f32_qb4w_gemm_minmax_ukernel_fn: `rows` (1 to kNibbleProductRows) x `columns` floats
// to `output`, from `depth` numbers of each row of `input` and weights packed for nr 16 and kr 4.
// Strides are in bytes. `quantisation` has an entry for each row.
using MultiplyNibbles = void (*)(size_t rows, size_t columns, size_t depth, const int8_t* input,
                                 size_t input_stride, const void* weights, float* output,
                                 size_t output_row_stride, size_t output_tile_stride,
                                 const xnn_f32_qb4w_minmax_params* params,
                                 const xnn_qd8_quantization_params* quantisation);

inline constexpr size_t kNibbleProductRows = 12;

// Null where the processor or the build has no such code.
MultiplyNibbles fast_nibble_products();

// Makes XNNPACK use them. XNNPACK is initialised, and no other thread uses it yet.
void use_fast_nibble_products();

}  // namespace vitrine::xnnpack
