// Lowers a complete program to one delegate and runs it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/lowered_module.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {

// Lowers the program, with its constants, to one delegate.
std::shared_ptr<const LoweredBackendModule> lowered(const TestProgram& t);

// Returns the types of the payload's nodes, for example "Conv2d".
std::vector<std::string> node_types(const LoweredBackendModule& module);

// Runs the delegate. Inputs and outputs are f32 tensors in row-major order, whatever the dim orders
// of the program's specs. `batch` is the size of the dynamic dim. Fails the test on errors.
std::vector<std::vector<float>> run(const LoweredBackendModule& module,
                                    const std::vector<std::vector<float>>& inputs,
                                    int64_t batch = 1);

}  // namespace vitrine::aot::test
