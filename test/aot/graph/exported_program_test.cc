// Tests programs and the check of their invariants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/exported_program.h"
#include "aot/graph/lint.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

std::vector<std::byte> counting(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

TEST(TensorData, StridedDataIsReturnedInRowMajorOrder) {
  TensorData data = make_tensor_data(ScalarType::kByte, {2, 3}, counting(6));
  EXPECT_EQ(row_major_bytes(data), counting(6));
  data.sizes = {3, 2};
  data.strides = {1, 3};
  const std::vector<std::byte> transposed = row_major_bytes(data);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 2; ++j) {
      EXPECT_EQ(std::to_integer<size_t>(transposed[2 * i + j]), i + 3 * j);
    }
  }
  EXPECT_FALSE(data.is_contiguous());
}

TEST(TensorData, CheckRejectsElementsOutsideStorage) {
  TensorData data = make_tensor_data(ScalarType::kFloat, {2, 3}, counting(24));
  EXPECT_EQ(data.check(), "");
  data.sizes = {2, 4};
  EXPECT_NE(data.check(), "");
  data.sizes = {INT64_MAX, INT64_MAX};
  EXPECT_NE(data.check(), "");
  data.sizes = {2, -3};
  EXPECT_NE(data.check(), "");
  data.sizes = {0, INT64_MAX};
  EXPECT_EQ(data.check(), "");
  data.sizes = {2, 3};
  data.strides = {-3, 1};
  EXPECT_NE(data.check(), "");
  data.strides = {INT64_MAX, INT64_MAX};
  EXPECT_NE(data.check(), "");
  // A stride of 0 repeats one f32 element 2^40 times. A contiguous copy would need 4 TiB.
  data.sizes = {int64_t{1} << 40};
  data.strides = {0};
  EXPECT_NE(data.check(), "");
}

TEST(ExportedProgram, AddsAndRemovesConstants) {
  ExportedProgram program;
  Node* x = program.graph->placeholder("x");
  program.signature.inputs.emplace_back().name = "x";
  program.graph->set_output(Argument::tuple({x}));
  program.signature.outputs.emplace_back().name = "x";
  const TensorData data = make_tensor_data(ScalarType::kByte, {4}, counting(4));
  Node* first = program.add_constant("c", data);
  Node* second = program.add_constant("c", data);
  EXPECT_EQ(first->name(), "c");
  EXPECT_EQ(second->name(), "c_1");
  EXPECT_EQ(x->previous(), second);
  EXPECT_EQ(program.data_of(*program.input_of("c_1"))->sizes, (std::vector<int64_t>{4}));
  lint(program);
  const ExportedProgram copy = program.copy();
  program.remove_input(first);
  EXPECT_EQ(program.constants.size(), 1U);
  EXPECT_EQ(copy.constants.size(), 2U);
  lint(program);
  lint(copy);
  EXPECT_THROW(program.remove_input(x), AotError);
}

struct ValidProgram {
  ValidProgram() {
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
  ExportedProgram program;
  Node* x;
  Node* weight;
  Node* add;
};

TEST(GraphLint, AcceptsValidProgramsAndNamesViolations) {
  EXPECT_NO_THROW(lint(ValidProgram().program));
  struct Case {
    const char* error;
    void (*change)(ValidProgram&);
  };
  const Case cases[] = {
      {"node output: uses add before its definition",
       [](ValidProgram& p) { p.program.graph->move_before(p.add, nullptr); }},
      {"node late: is a placeholder after a call",
       [](ValidProgram& p) { p.program.graph->placeholder("late", p.program.graph->output()); }},
      {"the graph has no output",
       [](ValidProgram& p) { p.program.graph->erase(p.program.graph->output()); }},
      {"node body: reads attribute body, which the graph does not have",
       [](ValidProgram& p) {
         p.add->set_kwargs({{"f", p.program.graph->get_attr("body", p.add)}});
       }},
      {"node x: the signature gives this input another name, y",
       [](ValidProgram& p) { p.program.signature.inputs[1].name = "y"; }},
      {"the graph has 2 placeholders, but the signature has 1 inputs",
       [](ValidProgram& p) { p.program.signature.inputs.pop_back(); }},
      {"node output: result 0 is add, but the signature calls it \"x\"",
       [](ValidProgram& p) { p.program.signature.outputs[0].name = "x"; }},
      {"returns 1 values, but the signature has 0 outputs",
       [](ValidProgram& p) { p.program.signature.outputs.clear(); }},
      {"node c: has dtype f32, but its data have dtype i32",
       [](ValidProgram& p) { p.program.constants["c"].dtype = ScalarType::kInt; }},
      {"node c: has no data: the program lacks \"c\"",
       [](ValidProgram& p) { p.program.constants.clear(); }},
      {"node c: its data reads element 3, but its record has only 3",
       [](ValidProgram& p) { p.program.constants["c"].storage_offset = 1; }},
      {"node add: has 2 sizes but 1 strides",
       [](ValidProgram& p) {
         TensorSpec spec = contiguous_spec(ScalarType::kFloat, {2, 3});
         spec.strides.pop_back();
         p.add->meta.value = spec;
       }},
  };
  for (const Case& test : cases) {
    ValidProgram changed;
    test.change(changed);
    EXPECT_ERROR(AotError, lint(changed.program), test.error);
  }
}

TEST(GraphLint, RejectsSymbolWithoutRange) {
  ValidProgram p;
  p.x->meta.value = contiguous_spec(ScalarType::kFloat, {SymInt(Expression::symbol("s0")), 3});
  EXPECT_ERROR(AotError, lint(p.program), "node x: uses symbol s0, which has no range");
  p.program.range_constraints["s0"] = {1, 8};
  lint(p.program);
}

}  // namespace
}  // namespace vitrine::aot
