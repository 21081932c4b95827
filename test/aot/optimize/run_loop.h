// Runs programs that consist of one loop, for tests.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "aot/passes/pipelines.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {

// Builds the body of a loop. Its calls have only tensor arguments, and f32 results of the given
// sizes.
class Body {
 public:
  Node* input(std::vector<SymInt> sizes) {
    Node* node = graph_->placeholder("arg");
    node->meta.value = contiguous_spec(ScalarType::kFloat, std::move(sizes));
    return node;
  }
  Node* call(const char* target, const ArgumentList& args, std::vector<SymInt> sizes) {
    Node* node = graph_->call(Target::of(target), args);
    node->meta.value = contiguous_spec(ScalarType::kFloat, std::move(sizes));
    return node;
  }
  std::unique_ptr<Graph> finish(const ArgumentList& results) {
    graph_->set_output(Argument::tuple(results));
    return std::move(graph_);
  }

 private:
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
};

// Runs a program that consists of one loop, and returns the results of the loop. The arguments of
// the loop are lists of inputs, and `groups` has the length of each list. `results` has the shapes
// of the results. If `max_length` is not 0, dim 0 of the first input is the dynamic size "s0", from
// 0 to max_length. `condition` is the condition of a while_loop, or null for other loops.
inline std::vector<Values> run_loop(const char* loop, const std::vector<TensorData>& inputs,
                                    const std::vector<size_t>& groups, std::unique_ptr<Graph> body,
                                    const std::vector<std::vector<SymInt>>& results,
                                    int64_t max_length = 0,
                                    std::unique_ptr<Graph> condition = nullptr) {
  ModelBuilder build("Net");
  Nodes in;
  for (const TensorData& data : inputs) {
    std::vector<SymInt> sizes(data.sizes.begin(), data.sizes.end());
    if (in.empty() && max_length != 0) sizes.at(0) = build.dynamic_size(0, max_length);
    in.push_back(build.input("x", data.dtype, std::move(sizes)));
  }
  ExportedProgram program = build.finish(in);
  Graph& graph = *program.graph;
  Node* output = graph.output();
  Node* attribute = graph.get_attr("body_graph_0", output);
  graph.subgraphs()[attribute->attribute()] = std::move(body);
  ArgumentList args = {attribute};
  if (condition != nullptr) {
    Node* test = graph.get_attr("cond_graph_0", output);
    graph.subgraphs()[test->attribute()] = std::move(condition);
    args.insert(args.begin(), test);
  }
  size_t next = 0;
  for (const size_t count : groups) {
    ArgumentList list;
    for (size_t i = 0; i < count; ++i) list.emplace_back(graph.find(in.at(next++)->name()));
    args.push_back(Argument::list(std::move(list)));
  }
  Node* call = graph.call(Target::of(loop, Dialect::kHigherOrder), args, {}, output);
  Value::Items items;
  ArgumentList outputs;
  program.signature.outputs.clear();
  for (const auto& sizes : results) items.emplace_back(contiguous_spec(ScalarType::kFloat, sizes));
  call->meta.value = items;
  for (size_t i = 0; i < results.size(); ++i) {
    Node* item = graph.call(getitem(), {call, static_cast<int64_t>(i)}, {}, output);
    item->meta.value = items[i];
    outputs.emplace_back(item);
    OutputSpec spec;
    spec.name = item->name();
    program.signature.outputs.push_back(std::move(spec));
  }
  output->set_args({Argument::tuple(std::move(outputs))});
  to_edge(program);
  std::vector<Values> values;
  for (const TensorData& result : evaluate(program, inputs)) values.push_back(values_of(result));
  return values;
}

}  // namespace vitrine::aot
