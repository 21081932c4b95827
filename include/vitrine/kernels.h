// The kernel tables of Vitrine, for KernelRegistry::add().
//
// Add the optimized kernels before the portable kernels, which they override.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine {

// Reference kernels of all operators. CMake component `kernels`.
namespace portable {
KernelTable kernels();
}  // namespace portable

// Operators of the namespaces quantized_decomposed and torchao, which quantize, dequantize, or
// compute with quantized tensors. CMake component `kernels`.
namespace quantized {
KernelTable kernels();
}  // namespace quantized

// Operators of the namespace llama: attention, cache updates, and other operators of decoders.
// CMake component `kernels`.
namespace llm {
KernelTable kernels();
}  // namespace llm

// Kernels that use the SIMD instructions of the machine and the method's thread pool. CMake
// component `optimized_kernels`.
namespace optimized {
KernelTable kernels();
}  // namespace optimized

}  // namespace vitrine
