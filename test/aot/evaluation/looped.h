// Programs of one loop, for tests.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "aot/passes/pipelines.h"
#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {

// A body is made of calls without arguments but tensors, whose results are of these sizes.
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

// A program whose results are those of a loop over its inputs. `groups`: how many inputs each list
// of the loop has.
inline std::vector<Values> looped(const char* loop, const std::vector<TensorData>& inputs,
                                  const std::vector<size_t>& groups, std::unique_ptr<Graph> body,
                                  const std::vector<std::vector<SymInt>>& results) {
  ModelBuilder build("Net");
  Nodes in;
  for (const TensorData& data : inputs) {
    in.push_back(build.input("x", data.dtype, {data.sizes.begin(), data.sizes.end()}));
  }
  ExportedProgram program = build.finish(in);
  Graph& graph = *program.graph;
  Node* place = graph.output();
  Node* attribute = graph.get_attr("body_graph_0", place);
  graph.subgraphs()[attribute->attribute()] = std::move(body);
  ArgumentList args = {attribute};
  size_t next = 0;
  for (const size_t count : groups) {
    ArgumentList list;
    for (size_t i = 0; i < count; ++i) list.emplace_back(graph.find(in.at(next++)->name()));
    args.push_back(Argument::list(std::move(list)));
  }
  Node* call = graph.call(Target::of(loop, Dialect::kHigherOrder), args, {}, place);
  Value::Items items;
  ArgumentList outputs;
  program.signature.outputs.clear();
  for (const auto& sizes : results) items.emplace_back(contiguous_spec(ScalarType::kFloat, sizes));
  call->meta.value = items;
  for (size_t i = 0; i < results.size(); ++i) {
    Node* item = graph.call(getitem(), {call, static_cast<int64_t>(i)}, {}, place);
    item->meta.value = items[i];
    outputs.emplace_back(item);
    OutputSpec spec;
    spec.name = item->name();
    program.signature.outputs.push_back(std::move(spec));
  }
  graph.output()->set_args({Argument::tuple(std::move(outputs))});
  to_edge(program);
  std::vector<Values> values;
  for (const TensorData& result : evaluate(program, inputs)) values.push_back(values_of(result));
  return values;
}

}  // namespace vitrine::aot
