// Inserts calls that quantize and dequantize, like PyTorch's convert_pt2e.
#pragma once

#include "aot/quantize/annotations.h"
#include "aot/quantize/calibrate.h"

namespace vitrine::aot {

// Quantizes stored tensors ahead of time. For any other tensor, inserts one call that quantizes it
// at run time. Then inserts a dequantize call for each annotated call that uses the tensor. Calls
// without annotations read dequantized values, too.
void convert(ExportedProgram& program, const Annotations& annotations,
             const Calibration& calibration);

}  // namespace vitrine::aot
