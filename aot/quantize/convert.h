// Inserts calls that quantize and dequantize, like PyTorch's convert_pt2e.
#pragma once

#include "aot/quantize/annotations.h"
#include "aot/quantize/calibrate.h"

namespace vitrine::aot {

// Quantizes constant tensors ahead of time, and inserts calls that quantize other tensors at run
// time. Inserts dequantize calls, because all calls still compute with floats. Calls without
// annotations also read dequantized values of annotated results.
void convert(ExportedProgram& program, const Annotations& annotations,
             const Calibration& calibration);

}  // namespace vitrine::aot
