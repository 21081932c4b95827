#include "aot/graph/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Program : testing::Test {
  Program() {
    x = program.graph->placeholder("x");
    x->meta.value = contiguous_spec(ScalarType::kFloat, {2, 3});
    program.signature.inputs.emplace_back().name = "x";
    weight = program.add_constant(
        "c", make_tensor_data(ScalarType::kFloat, {3}, std::vector<std::byte>(12)));
    add = program.graph->call(Target::of("aten.add.Tensor"), {x, weight});
    add->meta.value = x->meta.value;
    program.graph->set_output(Argument::tuple({add}));
    program.signature.outputs.emplace_back().name = "add";
  }
  void expect(const char* text) {
    EXPECT_THAT([&] { lint(program); }, ThrowsMessage<AotError>(HasSubstr(text)));
  }
  ExportedProgram program;
  Node* x;
  Node* weight;
  Node* add;
};

TEST_F(Program, IsFine) { lint(program); }

TEST_F(Program, MustBeInOrder) {
  program.graph->move_before(add, nullptr);
  expect("node output: uses add, which does not come before it");
}

TEST_F(Program, HasPlaceholdersFirst) {
  Node* late = program.graph->placeholder("late", program.graph->output());
  (void)late;
  expect("node late: is a placeholder after a call");
}

TEST_F(Program, HasAnOutput) {
  program.graph->erase(program.graph->output());
  expect("the graph has no output");
}

TEST_F(Program, HasSubgraphsThatExist) {
  add->set_kwargs({{"f", program.graph->get_attr("body", add)}});
  expect("node body: no subgraph body");
}

TEST_F(Program, HasASignatureThatFits) {
  program.signature.inputs[1].name = "y";
  expect("node x: the signature has y at this position");
  program.signature.inputs.pop_back();
  expect("the graph has 2 placeholders, but the signature has 1 inputs");
}

TEST_F(Program, ReturnsWhatTheSignatureSays) {
  program.signature.outputs[0].name = "x";
  expect("node output: result 0 is add; the signature has \"x\"");
  program.signature.outputs.clear();
  expect("returns 1 values; the signature has 0");
}

TEST_F(Program, HasItsWeights) {
  program.constants["c"].dtype = ScalarType::kInt;
  expect("node c: is f32, but the data are i32");
  program.constants.clear();
  expect("node c: no data for \"c\"");
}

TEST_F(Program, HasWeightsInsideTheirStorage) {
  program.constants["c"].storage_offset = 1;
  expect("node c: the data reaches element 3; its record holds 3");
}

TEST_F(Program, HasRangesForItsSymbols) {
  x->meta.value = contiguous_spec(ScalarType::kFloat, {SymInt(Expression::symbol("s0")), 3});
  expect("node x: symbol s0 has no range");
  program.range_constraints["s0"] = {1, 8};
  lint(program);
}

TEST_F(Program, HasAStrideForEachSize) {
  TensorSpec spec = contiguous_spec(ScalarType::kFloat, {2, 3});
  spec.strides.pop_back();
  add->meta.value = spec;
  expect("node add: has 2 sizes and 1 strides");
}

}  // namespace
}  // namespace vitrine::aot
