// map and scan against their formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "aot/graph/aot_error.h"
#include "aot/passes/pipelines.h"
#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

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
std::vector<Values> looped(const char* loop, const std::vector<TensorData>& inputs,
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

// Of each row x: relu(x) * y.
std::unique_ptr<Graph> rows_times(Body body) {
  Node* x = body.input({2});
  Node* y = body.input({2});
  Node* positive = body.call("aten.relu.default", {x}, {2});
  return body.finish({body.call("aten.mul.Tensor", {positive, y}, {2})});
}

TEST(Loop, MapsRows) {
  const TensorData x = floats({3, 2}, {1, -2, 3, 4, -5, 6});
  const TensorData y = floats({2}, {10, 100});
  const auto found = looped("map_impl", {x, y}, {1, 1}, rows_times({}), {{3, 2}});
  EXPECT_EQ(found, (std::vector<Values>{{10, 0, 30, 400, 0, 600}}));
}

// One run over one slice alone.
TEST(Loop, OfOneRow) {
  const auto found = looped("map_impl", {floats({1, 2}, {3, 4}), floats({2}, {1, 2})}, {1, 1},
                            rows_times({}), {{1, 2}});
  EXPECT_EQ(found, (std::vector<Values>{{3, 8}}));
}

// Sums so far.
TEST(Loop, CarriesFromRowToRow) {
  Body body;
  Node* sum = body.input({2});
  Node* x = body.input({2});
  Node* next = body.call("aten.add.Tensor", {sum, x}, {2});
  const auto found = looped("scan", {floats({2}, {100, 0}), floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                            {1, 1, 0}, body.finish({next, next}), {{2}, {3, 2}});
  EXPECT_EQ(found, (std::vector<Values>{{109, 12}, {101, 2, 104, 6, 109, 12}}));
}

// (a, b) -> (b, a + x): what is carried changes places, and rows are of what was carried.
TEST(Loop, CarriesCrosswise) {
  Body body;
  Node* a = body.input({1});
  Node* b = body.input({1});
  Node* x = body.input({1});
  Node* sum = body.call("aten.add.Tensor", {a, x}, {1});
  const TensorData xs = floats({3, 1}, {1, 10, 100});
  const auto found = looped("scan", {floats({1}, {1000}), floats({1}, {2000}), xs}, {2, 1, 0},
                            body.finish({b, sum, a}), {{1}, {1}, {3, 1}});
  // (1000, 2000) -> (2000, 1001) -> (1001, 2010) -> (2010, 1101)
  EXPECT_EQ(found, (std::vector<Values>{{2010}, {1101}, {1000, 2000, 1001}}));
}

TEST(Loop, RefusesWhatDoesNotFit) {
  const TensorData x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const TensorData y = floats({2}, {1, 2});
  const auto error = [&](const std::vector<TensorData>& inputs, const std::vector<size_t>& groups,
                         const std::vector<std::vector<SymInt>>& results) {
    return [=] { looped("map_impl", inputs, groups, rows_times({}), results); };
  };
  EXPECT_THAT(error({x}, {1, 0}, {{3, 2}}), ThrowsMessage<AotError>(HasSubstr("takes 2 inputs")));
  EXPECT_THAT(error({x, y}, {1, 1}, {{3, 2}, {3, 2}}),
              ThrowsMessage<AotError>(HasSubstr("it has 2 results, its body 1")));
  EXPECT_THAT(error({x, y}, {0, 2}, {{3, 2}}),
              ThrowsMessage<AotError>(HasSubstr("runs over nothing")));
  EXPECT_THAT(error({x, y}, {1, 1}, {{3, 4}}), ThrowsMessage<AotError>(HasSubstr("does not fit")));
  EXPECT_THAT(error({y, y}, {1, 1}, {{2, 2}}), ThrowsMessage<AotError>(HasSubstr("does not fit")));
  EXPECT_THAT(error({x, floats({2, 2}, {1, 2, 3, 4})}, {2, 0}, {{3, 2}}),
              ThrowsMessage<AotError>(HasSubstr("several lengths")));
}

}  // namespace
}  // namespace vitrine::aot
