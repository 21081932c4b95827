// The table of quantized_decomposed kernels: quantising, dequantising and operators on quantised
// tensors.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine::quantized {

KernelTable kernels();

}  // namespace vitrine::quantized
