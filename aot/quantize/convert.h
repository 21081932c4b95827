// Inserts the calls that quantize and dequantize, like convert_pt2e.
#pragma once

#include "aot/quantize/annotations.h"
#include "aot/quantize/calibrate.h"

namespace vitrine::aot {

// Quantizes stored tensors now. Other tensors are quantized at run time, once, and dequantized for
// each annotated call that uses them. Calls that are not annotated also read dequantized values.
void convert(ExportedProgram& program, const Annotations& annotations,
             const Calibration& calibration);

}  // namespace vitrine::aot
