// Runs a program on the host, with the portable kernels.
#pragma once

#include <span>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// `program` is in the edge dialect, without delegates. `inputs` has one tensor for each user input
// that is a tensor, in order, with any strides. The results are the user outputs that are tensors,
// row-major; they own their bytes. Buffers start with the program's values; the program does not
// change. AotErrors name what failed.
std::vector<TensorData> evaluate(const ExportedProgram& program,
                                 std::span<const TensorData> inputs = {});

}  // namespace vitrine::aot
