// The table of llama:: kernels: attention, its caches, and what else decoders call.
#pragma once

#include "vitrine/kernel_registry.h"

namespace vitrine::llm {

KernelTable kernels();

}  // namespace vitrine::llm
