// XNNPACK joins and splits tensors row by row, with a call for each row, of which a rotary
// embedding has one for each number.
#pragma once

#include <xnnpack.h>

namespace vitrine::xnnpack {

// Makes the operators of a runtime copy rows of 1 to 16 bytes in one loop. XNNPACK forgets it when
// it reshapes them. Nothing in builds without XNNPACK's private headers.
void use_fast_row_copies(xnn_runtime_t runtime);

}  // namespace vitrine::xnnpack
