// Helps the tests of passes build small programs and list the calls in lowered programs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "examples/models/model_builder.h"

namespace vitrine::aot {

// Builds a program whose first input is x.
class Net : public ModelBuilder {
 public:
  explicit Net(std::vector<SymInt> sizes, ScalarType dtype = ScalarType::kFloat)
      : ModelBuilder("Net"), x(input("x", dtype, std::move(sizes))) {}
  Node* x;
};

// Returns a program with these outputs, in the edge dialect.
ExportedProgram edge_program(ModelBuilder& build, const std::vector<Node*>& outputs);
// The operators of a program's calls, in order, without their namespace: "add.Tensor", "relu".
std::vector<std::string> calls(const ExportedProgram& program);
// Lowers a model that returns `result`, and returns the operators of the executable program's
// calls.
std::vector<std::string> executable_calls(ModelBuilder& build, Node* result);
const Node& last_call(const ExportedProgram& program);
// A channels-last copy of an input with the sizes {1, 2, 3, 4}.
Node* channels_last_image(ModelBuilder& build);
// An f32 tensor.
TensorData zeros(std::vector<int64_t> sizes);

}  // namespace vitrine::aot
