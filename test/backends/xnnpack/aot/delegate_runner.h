// Makes a whole program into one delegate and runs it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/lowered_module.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {

// The constants of the program go along.
std::shared_ptr<const LoweredBackendModule> lowered(const TestProgram& t);

// Types of the payload's nodes: "Conv2d".
std::vector<std::string> node_types(const LoweredBackendModule& module);

// f32 inputs and outputs, in logical order. Sizes and dim orders are those of the program's specs;
// `batch` is the dynamic dim. Fails the test on errors.
std::vector<std::vector<float>> run(const LoweredBackendModule& module,
                                    const std::vector<std::vector<float>>& inputs,
                                    int64_t batch = 1);

}  // namespace vitrine::aot::test
