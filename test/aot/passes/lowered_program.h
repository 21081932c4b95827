// Small programs for tests of passes, and which calls they become.
#pragma once

#include <string>
#include <vector>

#include "aot/builder/model_builder.h"

namespace vitrine::aot {

// Operators of a program's calls, in order, without their namespace: "add.Tensor", "relu".
std::vector<std::string> calls(const ExportedProgram& program);
// Those of what a model with this result becomes.
std::vector<std::string> executable_calls(ModelBuilder& build, Node* result);
const Node& last_call(const ExportedProgram& program);
// A copy of an input of sizes {1, 2, 3, 4}, channels last.
Node* channels_last_image(ModelBuilder& build);
// f32.
TensorData zeros(std::vector<int64_t> sizes);

}  // namespace vitrine::aot
