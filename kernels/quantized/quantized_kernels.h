// The table of quantized_decomposed kernels: quantising, dequantising and what works on both.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine::quantized {

KernelTable kernels();

}  // namespace vitrine::quantized
