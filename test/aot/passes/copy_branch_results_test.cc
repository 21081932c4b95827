// Compares the results of cond calls with formulas. All branches use the same memory for their
// tensors, including the tensors that they return.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "aot/passes/pipelines.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

using Branch = std::function<Node*(Graph&, Node*)>;

// Inserts a call before `place`, or at the end of the graph if `place` is null.
Node* call_at(Graph& graph, Node* place, const char* target, ArgumentList args,
              std::vector<SymInt> sizes = {2}) {
  Node* node = graph.call(Target::of(target), std::move(args), {}, place);
  node->meta.value = contiguous_spec(ScalarType::kFloat, std::move(sizes));
  return node;
}
Branch times(double factor) {
  return [factor](Graph& graph, Node* x) {
    return call_at(graph, nullptr, "aten.mul.Scalar", {x, factor});
  };
}
Node* same(Graph& /*graph*/, Node* x) { return x; }

// Inserts cond(p, yes, no, [operand]) before `place`.
Node* condition(Graph& graph, Node* place, Node* p, const Branch& yes, const Branch& no,
                Node* operand) {
  ArgumentList args = {p};
  for (const Branch& make : {yes, no}) {
    Node* getter =
        graph.get_attr("branch_graph_" + std::to_string(graph.subgraphs().size()), place);
    auto branch = std::make_unique<Graph>();
    Node* x = branch->placeholder("arg");
    x->meta.value = contiguous_spec(ScalarType::kFloat, {2});
    branch->set_output(Argument::tuple({make(*branch, x)}));
    graph.subgraphs()[getter->attribute()] = std::move(branch);
    args.emplace_back(getter);
  }
  args.push_back(Argument::list({operand}));
  Node* chosen = graph.call(Target::of("cond", Dialect::kHigherOrder), std::move(args), {}, place);
  chosen->meta.value = Value::Items{contiguous_spec(ScalarType::kFloat, {2})};
  Node* item = graph.call(getitem(), {chosen, 0}, {}, place);
  item->meta.value = contiguous_spec(ScalarType::kFloat, {2});
  return item;
}

// Runs a graph with the inputs p and x = {1, 10}. `make` adds the graph's calls before `place`.
using Make = std::function<Node*(Graph& graph, Node* place, Node* p, Node* x)>;
Values chosen(bool p, const Make& make) {
  ModelBuilder build("Net");
  Node* flag = build.input("p", ScalarType::kBool, {});
  Node* x = build.input("x", ScalarType::kFloat, {2});
  ExportedProgram program = build.finish({flag, x});
  Graph& graph = *program.graph;
  Node* result = make(graph, graph.output(), flag, x);
  graph.output()->set_args({Argument::tuple({result})});
  program.signature.outputs.assign(1, OutputSpec());
  program.signature.outputs[0].name = result->name();
  to_edge(program);
  const std::vector<TensorData> inputs = {bools({}, {p}), floats({2}, {1, 10})};
  return values_of(evaluate(program, inputs).at(0));
}

TEST(CopyBranchResults, ResultsSurviveLaterBranches) {
  const Make make = [](Graph& graph, Node* place, Node* p, Node* x) {
    Node* first = condition(graph, place, p, times(2), times(3), x);
    Node* second = condition(graph, place, p, times(5), times(7), x);
    return call_at(graph, place, "aten.sub.Tensor", {first, second});
  };
  EXPECT_EQ(chosen(true, make), (Values{-3, -30}));
  EXPECT_EQ(chosen(false, make), (Values{-4, -40}));
}

// A branch first writes its own memory and then reads the result of another cond.
TEST(CopyBranchResults, LaterBranchesCanReadResults) {
  const Make make = [](Graph& graph, Node* place, Node* p, Node* x) {
    Node* first = condition(graph, place, p, times(2), times(3), x);
    const Branch times_eleven = [](Graph& branch, Node* input) {
      Node* before = call_at(branch, nullptr, "aten.mul.Scalar", {input, 10.0});
      return call_at(branch, nullptr, "aten.add.Tensor", {before, input});
    };
    return condition(graph, place, p, times_eleven, times(1), first);
  };
  EXPECT_EQ(chosen(true, make), (Values{22, 220}));
  EXPECT_EQ(chosen(false, make), (Values{3, 30}));
}

TEST(CopyBranchResults, ResultsCanBeViewed) {
  const Make make = [](Graph& graph, Node* place, Node* p, Node* x) {
    Node* result = condition(graph, place, p, times(2), times(3), x);
    Node* view = call_at(graph, place, "aten.view.default", {result, Dims{2, 1}}, {2, 1});
    return call_at(graph, place, "aten.neg.default", {view}, {2, 1});
  };
  EXPECT_EQ(chosen(true, make), (Values{-2, -20}));
  EXPECT_EQ(chosen(false, make), (Values{-3, -30}));
}

// One branch returns its input. The memory of this input is reused after the cond, so the returned
// value must be a copy.
TEST(CopyBranchResults, CopiesReturnedInputs) {
  const Make make = [](Graph& graph, Node* place, Node* p, Node* x) {
    Node* doubled = call_at(graph, place, "aten.mul.Scalar", {x, 2.0});
    Node* result = condition(graph, place, p, same, times(-1), doubled);
    Node* later = call_at(graph, place, "aten.mul.Scalar", {x, 100.0});
    Node* last = call_at(graph, place, "aten.mul.Scalar", {later, 10.0});
    return call_at(graph, place, "aten.add.Tensor", {result, last});
  };
  EXPECT_EQ(chosen(true, make), (Values{1002, 10020}));
  EXPECT_EQ(chosen(false, make), (Values{998, 9980}));
}

}  // namespace
}  // namespace vitrine::aot
