#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/optimize/evaluate.h"
#include "aot/optimize/rules.h"
#include "aot/passes/pipelines.h"
#include "examples/models/model_builder.h"
#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::Contains;
using testing::Not;

Values count_to(size_t count) {
  Values values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

// Applies the rule, checks that the results stay equal, and returns the calls.
std::vector<std::string> viewed(ModelBuilder& build, const std::vector<Node*>& results,
                                const std::vector<TensorData>& inputs) {
  ExportedProgram program = build.finish(results);
  to_edge(program);
  const std::vector<TensorData> expected = evaluate(program, inputs);
  to_executable(program);
  Changes changes(program.range_constraints);
  slices_to_views(program, changes);
  const std::vector<TensorData> found = evaluate(program, inputs);
  EXPECT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    EXPECT_EQ(values_of(found[i]), values_of(expected[i]));
  }
  return calls(program);
}

std::vector<Node*> split(ModelBuilder& build, Node* x, const std::vector<int64_t>& sizes) {
  Value::Items items;
  for (const int64_t size : sizes) {
    TensorSpec spec = *x->tensor();
    spec.sizes.back() = size;
    items.emplace_back(contiguous_spec(spec.dtype, spec.sizes));
  }
  Node* parts = build.call_as("aten.split_with_sizes.default", {x, sizes, -1}, {}, items);
  std::vector<Node*> found;
  for (size_t i = 0; i < sizes.size(); ++i) found.push_back(build.item(parts, i));
  return found;
}

// The slices are parts of one row, like the gates of a recurrent cell.
TEST(SlicesToViews, ReplacesSplitOfASingleRow) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, 1, 6});
  const auto parts = split(build, build.call("aten.neg.default", {x}), {1, 2, 3});
  const auto made = viewed(build,
                           {build.call("aten.mul.Tensor", {parts[0], parts[2]}),
                            build.call("aten.abs.default", {parts[1]})},
                           {floats({1, 1, 6}, count_to(6))});
  EXPECT_THAT(made, Contains("view").Times(3));
  EXPECT_THAT(made, Not(Contains("split_with_sizes_copy")));
}

TEST(SlicesToViews, KeepsSplitOfSeveralRows) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 6});
  const auto parts = split(build, build.call("aten.neg.default", {x}), {3, 3});
  const auto made = viewed(build, {build.call("aten.mul.Tensor", {parts[0], parts[1]})},
                           {floats({2, 6}, count_to(12))});
  EXPECT_THAT(made, Contains("split_with_sizes_copy"));
}

// Indices are negative, so that they count from the end.
TEST(SlicesToViews, ReplacesSlicesOfViews) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {3, 4, 2});
  Node* y = build.call("aten.neg.default", {x});
  y = build.call("aten.select.int", {y, 0, -2});
  y = build.call("aten.slice.Tensor", {y, 0, -3, 3});
  const auto made =
      viewed(build, {build.call("aten.abs.default", {y})}, {floats({3, 4, 2}, count_to(24))});
  EXPECT_THAT(made, Contains("view").Times(2));
  EXPECT_THAT(made, Contains("abs"));
}

// A view must be in planned memory, so slices of other memory are kept: inputs and results may be
// in the caller's memory, and weights are in the file.
TEST(SlicesToViews, KeepsSlicesOfInputsWeightsAndResults) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* weight = build.parameter("weight", floats({2, 3}, count_to(6)));
  Node* all = build.call("aten.neg.default", {x});
  Node* of_input = build.call("aten.abs.default", {build.call("aten.select.int", {x, 0, 1})});
  Node* of_weight =
      build.call("aten.mul.Tensor", {of_input, build.call("aten.select.int", {weight, 0, 1})});
  Node* result = build.call("aten.select.int", {build.call("aten.abs.default", {x}), 0, 1});
  Node* of_result = build.call("aten.abs.default", {build.call("aten.select.int", {all, 0, 1})});
  const auto made =
      viewed(build, {all, of_weight, result, of_result}, {floats({2, 3}, count_to(6))});
  EXPECT_THAT(made, Contains("select_copy.int").Times(4));
}

}  // namespace
}  // namespace vitrine::aot
