// Speeds up XNNPACK's concatenations, splits and transpositions. XNNPACK calls its copy kernel once
// per row, and a row may be a single element. XNNPACK also transposes square tiles, even of narrow
// matrices.
#pragma once

#include <xnnpack.h>

namespace vitrine::xnnpack {

// Makes a task copy several short rows. Special loops copy rows of 1, 2, 4 or 8 bytes, and of up to
// 256 bytes in multiples of 16. Transpositions get long tiles. Call after each reshape. Does
// nothing without XNNPACK's private headers.
void use_fast_row_copies(xnn_runtime_t runtime);

}  // namespace vitrine::xnnpack
