// Compares map, scan and while_loop with formulas.
#include <gtest/gtest.h>

#include <memory>

#include "aot/graph/aot_error.h"
#include "test/aot/optimize/run_loop.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

// Returns the body x -> relu(x) * y.
std::unique_ptr<Graph> rows_times(Body body) {
  Node* x = body.input({2});
  Node* y = body.input({2});
  Node* positive = body.call("aten.relu.default", {x}, {2});
  return body.finish({body.call("aten.mul.Tensor", {positive, y}, {2})});
}

TEST(Loop, MapAppliesTheBodyToEachRow) {
  const auto mapped = [](int64_t rows, const Values& x, const Values& y) {
    return run_loop("map_impl", {floats({rows, 2}, x), floats({2}, y)}, {1, 1}, rows_times({}),
                    {{rows, 2}});
  };
  EXPECT_EQ(mapped(3, {1, -2, 3, 4, -5, 6}, {10, 100}),
            (std::vector<Values>{{10, 0, 30, 400, 0, 600}}));
  EXPECT_EQ(mapped(1, {3, 4}, {1, 2}), (std::vector<Values>{{3, 8}}));
  EXPECT_EQ(mapped(0, {}, {1, 2}), std::vector<Values>(1)) << "the body does not run";
}

// The number of rows is dynamic. The result has memory for up to four rows.
TEST(Loop, MapOverDynamicLengthOfZeroReturnsZeroRows) {
  const SymInt length(Expression::symbol("s0"));
  const auto rows = [&](const TensorData& x) {
    return run_loop("map_impl", {x, floats({2}, {1, 2})}, {1, 1}, rows_times({}), {{length, 2}}, 4);
  };
  EXPECT_EQ(rows(floats({0, 2}, {})), std::vector<Values>(1));
  EXPECT_EQ(rows(floats({3, 2}, {1, 1, 2, 2, 3, 3})), (std::vector<Values>{{1, 2, 2, 4, 3, 6}}));
}

// Computes cumulative sums, starting with (100, 0).
TEST(Loop, ScanCarriesValuesFromRowToRow) {
  const auto sums = [](int64_t rows, const Values& xs) {
    Body body;
    Node* sum = body.input({2});
    Node* x = body.input({2});
    Node* next = body.call("aten.add.Tensor", {sum, x}, {2});
    return run_loop("scan", {floats({2}, {100, 0}), floats({rows, 2}, xs)}, {1, 1, 0},
                    body.finish({next, next}), {{2}, {rows, 2}});
  };
  EXPECT_EQ(sums(3, {1, 2, 3, 4, 5, 6}),
            (std::vector<Values>{{109, 12}, {101, 2, 104, 6, 109, 12}}));
  EXPECT_EQ(sums(0, {}), (std::vector<Values>{{100, 0}, {}}));
}

// Runs while_loop(x < limit, body). Its inputs are the carried values and one operand, the limit.
std::vector<Values> run_while(const std::vector<TensorData>& inputs, size_t num_carries,
                              std::unique_ptr<Graph> body,
                              const std::vector<std::vector<SymInt>>& results) {
  auto condition = std::make_unique<Graph>();
  std::vector<Node*> in;
  for (const TensorData& input : inputs) {
    Node* node = condition->placeholder("arg");
    node->meta.value = contiguous_spec(input.dtype, {input.sizes.begin(), input.sizes.end()});
    in.push_back(node);
  }
  Node* less = condition->call(Target::of("aten.lt.Tensor"), {in.front(), in.back()});
  less->meta.value = contiguous_spec(ScalarType::kBool, {});
  condition->set_output(Argument(less));
  return run_loop("while_loop", inputs, {num_carries, inputs.size() - num_carries}, std::move(body),
                  results, 0, std::move(condition));
}

// Computes Fibonacci numbers: (a, b) -> (b, a + b) while a < limit.
TEST(WhileLoop, RunsWhileConditionIsTrue) {
  const auto body_graph = [] {
    Body body;
    Node* a = body.input({});
    Node* b = body.input({});
    body.input({});
    Node* sum = body.call("aten.add.Tensor", {a, b}, {});
    return body.finish({b, sum});
  };
  const auto last = [&](double limit) {
    return run_while({floats({}, {0}), floats({}, {1}), floats({}, {limit})}, 2, body_graph(),
                     {{}, {}});
  };
  EXPECT_EQ(last(50), (std::vector<Values>{{55}, {89}}));
  EXPECT_EQ(last(1), (std::vector<Values>{{1}, {1}}));
  EXPECT_EQ(last(0), (std::vector<Values>{{0}, {1}}));  // the body does not run
}

// The body is (a, m, n) -> (a + a, view of n, view of m). The first view has the shape of m, and
// the second view has the shape of n.
TEST(WhileLoop, ResultsMayBeViewsOfOtherCarriedValues) {
  Body body;
  Node* a = body.input({});
  Node* m = body.input({4});
  Node* n = body.input({2, 2});
  body.input({});
  Node* one = body.call("aten.add.Tensor", {a, a}, {});
  Node* flat = body.call("aten.view_copy.default", {n, Dims{4}}, {4});
  Node* square = body.call("aten.view_copy.default", {m, Dims{2, 2}}, {2, 2});
  const auto found = run_while(
      {floats({}, {1}), floats({4}, {1, 2, 3, 4}), floats({2, 2}, {5, 6, 7, 8}), floats({}, {8})},
      3, body.finish({one, flat, square}), {{}, {4}, {2, 2}});
  // Each of the three iterations swaps the two vectors.
  EXPECT_EQ(found, (std::vector<Values>{{8}, {5, 6, 7, 8}, {1, 2, 3, 4}}));
}

TEST(WhileLoop, RejectsMismatchedBodies) {
  const auto error = [](std::vector<SymInt> sizes, size_t num_results) {
    Body body;
    Node* a = body.input({});
    body.input({});
    Node* sum = body.call("aten.add.Tensor", {a, a}, std::move(sizes));
    ArgumentList results(num_results, sum);
    run_while({floats({}, {1}), floats({}, {8})}, 1, body.finish(results), {{}});
  };
  EXPECT_ERROR(AotError, error({2}, 1), "a carried value is f32[]");
  EXPECT_ERROR(AotError, error({}, 2), "2 body results");
}

TEST(Loop, RejectsOperandsThatDoNotMatchBody) {
  const TensorData x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const TensorData y = floats({2}, {1, 2});
  const auto expect_error = [](const std::vector<TensorData>& inputs,
                               const std::vector<size_t>& groups,
                               const std::vector<std::vector<SymInt>>& results, const char* text) {
    EXPECT_ERROR(AotError, run_loop("map_impl", inputs, groups, rows_times({}), results), text);
  };
  expect_error({x}, {1, 0}, {{3, 2}}, "its body has 2 inputs");
  expect_error({x, y}, {1, 1}, {{3, 2}, {3, 2}}, "has 2 results, but its body has 1");
  expect_error({x, y}, {0, 2}, {{3, 2}}, "needs at least one tensor to loop over");
  expect_error({x, y}, {1, 1}, {{3, 4}}, "but in the body it is");
  expect_error({y, y}, {1, 1}, {{2, 2}}, "but in the body it is");
  expect_error({x, floats({2, 2}, {1, 2, 3, 4})}, {2, 0}, {{3, 2}}, "different lengths");
}

}  // namespace
}  // namespace vitrine::aot
