// Speeds up XNNPACK's concatenations and splits. XNNPACK calls its copy kernel once per row, and in
// a rotary embedding a row is a single element.
#pragma once

#include <xnnpack.h>

namespace vitrine::xnnpack {

// Makes copy operators of a runtime faster. One task copies several short rows. Special loops copy
// rows of 1, 2, 4 or 8 bytes, and rows of up to 256 bytes whose size is a multiple of 16 bytes.
// Call it again after each reshape. Does nothing in builds without XNNPACK's private headers.
void use_fast_row_copies(xnn_runtime_t runtime);

}  // namespace vitrine::xnnpack
