// Inserts calls that quantize and dequantize, like PyTorch's convert_pt2e.
#pragma once

#include "aot/quantize/annotations.h"
#include "aot/quantize/calibrate.h"

namespace vitrine::aot {

// Quantizes constant tensors ahead of time. Inserts calls that quantize all other int8 tensors at
// run time. Then inserts dequantize calls, because all calls still compute with floats. If the
// result of a node is annotated, calls without annotations read dequantized values, too.
void convert(ExportedProgram& program, const Annotations& annotations,
             const Calibration& calibration);

}  // namespace vitrine::aot
