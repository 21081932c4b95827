#include "test/aot/passes/lowered_program.h"

#include "aot/passes/pipelines.h"

namespace vitrine::aot {

TensorData zeros(std::vector<int64_t> sizes) {
  size_t bytes = sizeof(float);
  for (const int64_t size : sizes) bytes *= static_cast<size_t>(size);
  return make_tensor_data(ScalarType::kFloat, std::move(sizes), std::vector<std::byte>(bytes));
}

ExportedProgram edge_program(ModelBuilder& build, const std::vector<Node*>& outputs) {
  ExportedProgram program = build.finish(outputs);
  to_edge(program);
  return program;
}

std::vector<std::string> calls(const ExportedProgram& program) {
  std::vector<std::string> names;
  for (const Node& node : program.graph->nodes()) {
    if (node.is_call()) {
      const std::string overload(node.target().overload());
      names.push_back(std::string(node.target().op()) +
                      (overload.empty() || overload == "default" ? "" : "." + overload));
    }
  }
  return names;
}

const Node& last_call(const ExportedProgram& program) {
  return *program.graph->output()->previous();
}

std::vector<std::string> executable_calls(ModelBuilder& build, Node* result) {
  ExportedProgram program = edge_program(build, {result});
  to_executable(program);
  return calls(program);
}

Node* channels_last_image(ModelBuilder& build) {
  Node* x = build.input("x", ScalarType::kFloat, {1, 2, 3, 4});
  return build.call("aten.clone.default", {x}, {{"memory_format", MemoryFormat::kChannelsLast}});
}

}  // namespace vitrine::aot
