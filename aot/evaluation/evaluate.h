// Runs a program where it is made, with the portable kernels.
#pragma once

#include <span>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// `program` is in the edge dialect, without delegates. An input a user input that is a tensor, in
// order; of any strides. The results are the user outputs that are tensors, row-major; they own
// their bytes. Buffers begin as they are in the program, and the program does not change. AotErrors
// name what failed.
std::vector<TensorData> evaluate(const ExportedProgram& program,
                                 std::span<const TensorData> inputs = {});

}  // namespace vitrine::aot
