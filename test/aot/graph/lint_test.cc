#include "aot/graph/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct GraphLint : testing::Test {
  GraphLint() {
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
  void expect_error(const char* text) {
    EXPECT_THAT([&] { lint(program); }, ThrowsMessage<AotError>(HasSubstr(text)));
  }
  ExportedProgram program;
  Node* x;
  Node* weight;
  Node* add;
};

TEST_F(GraphLint, AcceptsValidProgram) { lint(program); }

TEST_F(GraphLint, RejectsUseBeforeDefinition) {
  program.graph->move_before(add, nullptr);
  expect_error("node output: uses add before its definition");
}

TEST_F(GraphLint, RejectsPlaceholderAfterCall) {
  Node* late = program.graph->placeholder("late", program.graph->output());
  (void)late;
  expect_error("node late: is a placeholder after a call");
}

TEST_F(GraphLint, RejectsGraphWithoutOutput) {
  program.graph->erase(program.graph->output());
  expect_error("the graph has no output");
}

TEST_F(GraphLint, RejectsMissingSubgraph) {
  add->set_kwargs({{"f", program.graph->get_attr("body", add)}});
  expect_error("node body: reads attribute body, which the graph does not have");
}

TEST_F(GraphLint, RejectsInputsThatDoNotMatchSignature) {
  program.signature.inputs[1].name = "y";
  expect_error("node x: the signature gives this input another name, y");
  program.signature.inputs.pop_back();
  expect_error("the graph has 2 placeholders, but the signature has 1 inputs");
}

TEST_F(GraphLint, RejectsOutputsThatDoNotMatchSignature) {
  program.signature.outputs[0].name = "x";
  expect_error("node output: result 0 is add, but the signature calls it \"x\"");
  program.signature.outputs.clear();
  expect_error("returns 1 values, but the signature has 0 outputs");
}

TEST_F(GraphLint, RejectsMissingOrMismatchedWeights) {
  program.constants["c"].dtype = ScalarType::kInt;
  expect_error("node c: has dtype f32, but its data have dtype i32");
  program.constants.clear();
  expect_error("node c: has no data: the program lacks \"c\"");
}

TEST_F(GraphLint, RejectsWeightsOutsideStorage) {
  program.constants["c"].storage_offset = 1;
  expect_error("node c: its data reads element 3, but its record has only 3");
}

TEST_F(GraphLint, RejectsSymbolWithoutRange) {
  x->meta.value = contiguous_spec(ScalarType::kFloat, {SymInt(Expression::symbol("s0")), 3});
  expect_error("node x: uses symbol s0, which has no range");
  program.range_constraints["s0"] = {1, 8};
  lint(program);
}

TEST_F(GraphLint, RejectsMissingStride) {
  TensorSpec spec = contiguous_spec(ScalarType::kFloat, {2, 3});
  spec.strides.pop_back();
  add->meta.value = spec;
  expect_error("node add: has 2 sizes but 1 strides");
}

}  // namespace
}  // namespace vitrine::aot
