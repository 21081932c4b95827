// The tables of kernels that come with Vitrine, for KernelRegistry::add(). A registry asks its
// tables in order: add the optimised kernels before the portable ones, to which they fall back.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine {

// The reference of every op. Component `kernels`.
namespace portable {
KernelTable kernels();
}  // namespace portable

// quantized_decomposed: quantising, dequantising and operators on quantised tensors. Component
// `kernels`.
namespace quantized {
KernelTable kernels();
}  // namespace quantized

// llama: attention, its caches, and other operators of decoders. Component `kernels`.
namespace llm {
KernelTable kernels();
}  // namespace llm

// SIMD by the instruction set that the machine has, on the method's thread pool. Component
// `optimized_kernels`.
namespace optimized {
KernelTable kernels();
}  // namespace optimized

}  // namespace vitrine
