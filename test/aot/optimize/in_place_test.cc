// Tests views and results that share the memory of operands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/emit/method_tensors.h"
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

const std::vector<SymInt> kRow = {16};  // 64 bytes, four times the plan's alignment

class InPlace : public testing::Test {
 protected:
  Node* input(const char* name, std::vector<SymInt> sizes = kRow) {
    return build_.input(name, ScalarType::kFloat, std::move(sizes));
  }
  Node* call(const char* target, ArgumentList args) { return build_.call(target, std::move(args)); }
  void place(const std::vector<Node*>& results) {
    program_ = build_.finish(results);
    to_edge(program_);
    to_executable(program_);
    Changes changes(program_.range_constraints);
    slices_to_views(program_, changes);
    options_.in_place = true;
    tensors_ = std::make_unique<MethodTensors>(program_, options_, shared_);
  }
  // Returns the offset of an input, or of the result of the only call of an operator.
  uint64_t offset(std::string_view name) const {
    for (const Node& node : program_.graph->nodes()) {
      const bool is_match = node.is_call()
                                ? node.target().name().find(name) != std::string_view::npos
                                : node.name() == name;
      if (is_match) return tensors_->tensor(tensors_->of(node).at(0)).value.offset.value();
    }
    ADD_FAILURE() << "no node " << name;
    return 0;
  }

  ModelBuilder build_{"Net"};
  ExportedProgram program_;
  SharedBuffers shared_;
  EmitOptions::MemoryPlanning options_;
  std::unique_ptr<MethodTensors> tensors_;
};

TEST_F(InPlace, OverwritesOperandsAfterLastUse) {
  Node* y = call("aten.abs.default", {call("aten.neg.default", {input("x")})});
  place({call("aten.mul.Tensor", {input("z"), y})});
  EXPECT_EQ(offset("abs"), offset("neg"));
  EXPECT_EQ(offset("mul"), offset("neg"));
  EXPECT_NE(offset("neg"), offset("x"));
  EXPECT_NE(offset("neg"), offset("z"));
}

TEST_F(InPlace, DoesNotOverwriteOperandsThatAreReadLater) {
  Node* x = call("aten.neg.default", {input("x")});
  Node* y = call("aten.abs.default", {x});
  place({call("aten.mul.Tensor", {x, y})});
  EXPECT_NE(offset("abs"), offset("neg"));
  EXPECT_TRUE(offset("mul") == offset("neg") || offset("mul") == offset("abs"));
}

TEST_F(InPlace, DoesNotOverwriteOutputs) {
  Node* x = call("aten.neg.default", {input("x")});
  place({x, call("aten.abs.default", {x})});
  EXPECT_NE(offset("abs"), offset("neg"));
}

// An operand that is broadcast must not be overwritten, since each of its elements is needed for
// several elements of the result.
TEST_F(InPlace, DoesNotOverwriteBroadcastOperands) {
  Node* column = call("aten.neg.default", {input("x", {4, 1})});
  Node* square = call("aten.abs.default", {input("y", {4, 4})});
  place({call("aten.mul.Tensor", {column, square})});
  EXPECT_NE(offset("mul"), offset("neg"));
  EXPECT_EQ(offset("mul"), offset("abs"));
}

// The operands are overlapping views that start at different elements.
TEST_F(InPlace, DoesNotOverwriteOverlappingViews) {
  Node* x = call("aten.neg.default", {input("x", {24})});
  Node* a = call("aten.slice.Tensor", {x, 0, 0, 16});
  Node* b = call("aten.slice.Tensor", {x, 0, 4, 20});
  place({call("aten.mul.Tensor", {a, b})});
  ASSERT_EQ(program_.graph->nodes().size(), 6U);  // x, neg, two views, mul, output
  EXPECT_NE(offset("mul"), offset("neg"));
  EXPECT_NE(offset("mul"), offset("neg") + 16);
}

TEST_F(InPlace, OverwritesPartOfATensorThroughItsView) {
  Node* x = call("aten.neg.default", {input("x", {24})});
  Node* part = call("aten.slice.Tensor", {x, 0, 4, 20});
  place({call("aten.mul.Tensor", {part, part})});
  EXPECT_EQ(offset("mul"), offset("neg") + 16);
}

TEST_F(InPlace, OverwritesOnlyOperandsOfSameDtype) {
  Node* x = call("aten.neg.default", {input("x")});
  Node* y = build_.input("y", ScalarType::kInt, kRow);
  Node* n = call("aten.abs.default", {y});
  place({call("aten.mul.Tensor", {x, n}), call("aten.bitwise_not.default", {n})});
  EXPECT_EQ(offset("mul"), offset("neg"));
  EXPECT_EQ(offset("bitwise_not"), offset("abs"));
}

Values count_to(size_t count) {
  Values values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
  return values;
}

// Runs slices_to_views(), expects that this does not change the results, and returns the calls of
// the changed program.
std::vector<std::string> viewed(ModelBuilder& build, const std::vector<Node*>& results,
                                const std::vector<TensorData>& inputs) {
  ExportedProgram program = edge_program(build, results);
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
  Net build({1, 1, 6});
  const auto parts = split(build, build.call("aten.neg.default", {build.x}), {1, 2, 3});
  const auto made = viewed(build,
                           {build.call("aten.mul.Tensor", {parts[0], parts[2]}),
                            build.call("aten.abs.default", {parts[1]})},
                           {floats({1, 1, 6}, count_to(6))});
  EXPECT_THAT(made, Contains("view").Times(3));
  EXPECT_THAT(made, Not(Contains("split_with_sizes_copy")));
}

TEST(SlicesToViews, KeepsSplitOfSeveralRows) {
  Net build({2, 6});
  const auto parts = split(build, build.call("aten.neg.default", {build.x}), {3, 3});
  const auto made = viewed(build, {build.call("aten.mul.Tensor", {parts[0], parts[1]})},
                           {floats({2, 6}, count_to(12))});
  EXPECT_THAT(made, Contains("split_with_sizes_copy"));
}

// The select index and the slice start are negative, so they count from the end.
TEST(SlicesToViews, ReplacesSlicesOfViews) {
  Net build({3, 4, 2});
  Node* y = build.call("aten.neg.default", {build.x});
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
  Net build({2, 3});
  Node* weight = build.parameter("weight", floats({2, 3}, count_to(6)));
  Node* all = build.call("aten.neg.default", {build.x});
  Node* of_input = build.call("aten.abs.default", {build.call("aten.select.int", {build.x, 0, 1})});
  Node* of_weight =
      build.call("aten.mul.Tensor", {of_input, build.call("aten.select.int", {weight, 0, 1})});
  Node* result = build.call("aten.select.int", {build.call("aten.abs.default", {build.x}), 0, 1});
  Node* of_result = build.call("aten.abs.default", {build.call("aten.select.int", {all, 0, 1})});
  const auto made =
      viewed(build, {all, of_weight, result, of_result}, {floats({2, 3}, count_to(6))});
  EXPECT_THAT(made, Contains("select_copy.int").Times(4));
}

}  // namespace
}  // namespace vitrine::aot
