// Builds small programs for tests.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "aot/graph/aot_error.h"
#include "aot/graph/exported_program.h"
#include "aot/graph/pass.h"
#include "aot/lowering/lowered_modules.h"
#include "aot/lowering/partitioner.h"
#include "aot/lowering/to_backend.h"

namespace vitrine::aot::test {

// Tensors are f32 [2, 2] by default. The result of a call has the dtype and sizes of the first
// argument. Calls get the debug handles 1, 2, 3 and so on, in the order in which they are added.
class ProgramBuilder {
 public:
  Node* parameter(const std::string& name, TensorData data = ones()) {
    return weight(name, InputSpec::Kind::kParameter, std::move(data));
  }
  Node* buffer(const std::string& name, TensorData data = ones()) {
    return weight(name, InputSpec::Kind::kBuffer, std::move(data));
  }
  Node* constant(const std::string& name) {
    return weight(name, InputSpec::Kind::kTensorConstant, ones());
  }
  Node* input(const std::string& name, TensorSpec tensor = spec()) {
    return placeholder(name, InputSpec(), std::move(tensor));
  }
  Node* call(const char* op, ArgumentList args, const std::string& tag = "") {
    return call_in(*program.graph, op, std::move(args), tag);
  }
  // Adds a call to `graph`: the program's graph or a subgraph.
  Node* call_in(Graph& graph, const char* op, ArgumentList args, const std::string& tag = "") {
    const Node* first = args.empty() ? nullptr : args[0].node();
    const bool has_tensor = first != nullptr && first->tensor() != nullptr;
    const TensorSpec result = has_tensor ? *first->tensor() : spec();
    Node* node = graph.call(Target::of(op, Dialect::kEdge), std::move(args));
    node->meta.value = result;
    node->meta.debug_handle = ++handles_;
    node->meta.delegation_tag = tag;
    return node;
  }
  // Adds a call with several results, and its getitems. Returns the call, followed by the getitems.
  std::vector<Node*> split(Node* value, int64_t count, const std::string& tag = "") {
    Node* node =
        call("aten.split_with_sizes_copy.default", {value, std::vector<int64_t>{1, 1}}, tag);
    node->meta.value = Value::Items(static_cast<size_t>(count), Value(spec()));
    std::vector<Node*> nodes = {node};
    for (int64_t i = 0; i < count; ++i) {
      nodes.push_back(program.graph->call(getitem(), {node, i}));
      nodes.back()->meta = node->meta;
      nodes.back()->meta.value = spec();
    }
    return nodes;
  }
  void returns(const Node* node) {
    OutputSpec output;
    output.name = node->name();
    result(node, std::move(output));
  }
  void mutates(const Node* buffer, const Node* value) {
    OutputSpec output;
    output.kind = OutputSpec::Kind::kBufferMutation;
    output.name = value->name();
    output.target = program.input_of(buffer->name())->target;
    result(value, std::move(output));
  }
  // Completes the program. Adds these results after those of returns() and mutates().
  ExportedProgram& finish(std::initializer_list<const Node*> results = {}) {
    for (const Node* result : results) returns(result);
    program.graph->set_output(Argument::tuple(results_));
    return program;
  }

  static TensorSpec spec() { return contiguous_spec(ScalarType::kFloat, {2, 2}); }

  ExportedProgram program;

 private:
  // Every byte is 1.
  static TensorData ones() {
    return make_tensor_data(ScalarType::kFloat, {2, 2}, std::vector<std::byte>(16, std::byte{1}));
  }
  Node* placeholder(const std::string& name, InputSpec input, TensorSpec tensor) {
    Node* node = program.graph->placeholder(name);
    node->meta.value = std::move(tensor);
    input.name = node->name();
    program.signature.inputs.push_back(std::move(input));
    return node;
  }
  Node* weight(const std::string& name, InputSpec::Kind kind, TensorData data) {
    InputSpec made;
    made.kind = kind;
    made.target = "of." + name;
    TensorMap& map =
        kind == InputSpec::Kind::kTensorConstant ? program.constants : program.state_dict;
    TensorSpec tensor = contiguous_spec(data.dtype, {data.sizes.begin(), data.sizes.end()});
    map[made.target] = std::move(data);
    return placeholder(name, std::move(made), std::move(tensor));
  }
  void result(const Node* node, OutputSpec output) {
    results_.emplace_back(program.graph->find(node->name()));
    program.signature.outputs.push_back(std::move(output));
  }

  uint32_t handles_ = 0;
  ArgumentList results_;
};

// A backend for tests. The payload is the backend's id, followed by the values of the compile
// specs. preprocess() changes the targets of all calls in its copy of the program.
class NamedBackend final : public Backend {
 public:
  explicit NamedBackend(std::string id, uint64_t input_padding = 0,
                        std::vector<uint64_t> scratch_sizes = {})
      : id_(std::move(id)),
        input_padding_(input_padding),
        scratch_sizes_(std::move(scratch_sizes)) {}
  std::string id() const override { return id_; }
  uint64_t input_padding() const override { return input_padding_; }
  PreprocessResult preprocess(ExportedProgram& program,
                              std::span<const CompileSpec> specs) const override {
    PreprocessResult result;
    for (const char c : id_) result.payload.push_back(static_cast<std::byte>(c));
    for (const CompileSpec& spec : specs) {
      result.payload.insert(result.payload.end(), spec.value.begin(), spec.value.end());
    }
    for (Node& node : program.graph->nodes()) {
      if (node.is_call()) node.set_target(Target::of("changed.by_backend.default"));
    }
    result.scratch_sizes = scratch_sizes_;
    return result;
  }

 private:
  std::string id_;
  uint64_t input_padding_;
  std::vector<uint64_t> scratch_sizes_;
};

class FunctionPartitioner final : public Partitioner {
 public:
  using Function = std::function<PartitionResult(ExportedProgram&)>;
  explicit FunctionPartitioner(Function function) : function_(std::move(function)) {}
  PartitionResult partition(ExportedProgram& program) const override { return function_(program); }

 private:
  Function function_;
};

// Returns a partitioner that tags nodes by name, in the graph and its subgraphs. All partitions are
// for one backend.
inline FunctionPartitioner tagging(
    std::map<std::string, std::string> tags,
    std::shared_ptr<const Backend> backend = std::make_shared<NamedBackend>("Named")) {
  return FunctionPartitioner([tags, backend](ExportedProgram& program) {
    PartitionResult result;
    for (const auto& [name, tag] : tags) result.tags[tag] = {backend, {}};
    for_each_graph(*program.graph, [&](Graph& graph) {
      for (const auto& [name, tag] : tags) {
        if (Node* node = graph.find(name)) node->meta.delegation_tag = tag;
      }
    });
    return result;
  });
}

// Expects that to_backend() rejects these tags with this message.
inline void expect_rejected(ExportedProgram& program,
                            const std::map<std::string, std::string>& tags,
                            const testing::Matcher<std::string>& message) {
  EXPECT_THAT([&] { to_backend(program, tagging(tags)); },
              testing::ThrowsMessage<AotError>(message));
}

inline std::vector<std::string> input_names(const ExportedProgram& program) {
  std::vector<std::string> names;
  for (const InputSpec& spec : program.signature.inputs) names.push_back(spec.name);
  return names;
}

inline const LoweredBackendModule& module(const ExportedProgram& program, const char* name) {
  return *program.graph->lowered_modules().at(name);
}

}  // namespace vitrine::aot::test
