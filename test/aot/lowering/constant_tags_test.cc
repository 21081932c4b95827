// Tests of weights and buffers in partitions.
#include "aot/lowering/constant_tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/print.h"
#include "test/aot/lowering/program_builder.h"

namespace vitrine::aot {
namespace {

using test::expect_rejected;
using test::input_names;
using test::module;
using test::ProgramBuilder;
using test::tagging;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ConstantTags, MovesTaggedWeightsIntoDelegate) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  Node* q = b.parameter("q");
  Node* c = b.constant("c");
  Node* x = b.input("x");
  Node* sum = b.call("aten.cat.default", {Argument::list({x, p, q, c})});
  ExportedProgram& program = b.finish({sum});
  to_backend(program, tagging({{"p", "t"}, {"c", "t"}, {"aten_cat_default", "t"}}));
  EXPECT_THAT(input_names(program), ElementsAre("q", "x"));
  EXPECT_FALSE(program.state_dict.contains("of.p"));
  EXPECT_TRUE(program.state_dict.contains("of.q"));
  EXPECT_THAT(program.constants, IsEmpty());
  const ExportedProgram& original = module(program, "lowered_module_0").original;
  EXPECT_THAT(input_names(original), ElementsAre("p", "q", "c", "x"));
  EXPECT_EQ(original.signature.inputs[0].kind, InputSpec::Kind::kParameter);
  EXPECT_EQ(original.signature.inputs[1].kind, InputSpec::Kind::kUserInput);
  EXPECT_EQ(original.signature.inputs[2].kind, InputSpec::Kind::kTensorConstant);
  EXPECT_TRUE(original.state_dict.contains("of.p"));
  EXPECT_TRUE(original.constants.contains("of.c"));
  EXPECT_FALSE(original.state_dict.contains("of.q"));
  const Node* call = get_lowered_submodules(*program.graph)[0].call;
  EXPECT_EQ(call->args()[1].node()->name(), "q");
  EXPECT_EQ(call->args()[2].node()->name(), "x");
  EXPECT_EQ(call->args().size(), 3U);
}

TEST(ConstantTags, CopiesSharedWeightsForEachTag) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  Node* x = b.input("x");
  Node* a = b.call("aten.add.Tensor", {x, p});
  Node* between = b.call("aten.erf.default", {a});
  Node* again = b.call("aten.mul.Tensor", {between, p});
  Node* left = b.call("aten.sub.Tensor", {again, p});
  ExportedProgram& program = b.finish({left});
  to_backend(program, tagging({{"p", "t1"}, {"aten_add_tensor", "t0"}, {"aten_mul_tensor", "t1"}}));
  // The first partition that uses the weight keeps the original. The other partition and the calls
  // outside of partitions get copies.
  EXPECT_THAT(input_names(program), ElementsAre("p_copy_1", "x"));
  EXPECT_TRUE(program.state_dict.contains("of.p"));
  EXPECT_THAT(input_names(module(program, "lowered_module_0").original), ElementsAre("p", "x"));
  EXPECT_THAT(input_names(module(program, "lowered_module_1").original),
              ElementsAre("p_copy_0", "aten_erf_default"));
  EXPECT_EQ(left->args()[1].node()->name(), "p_copy_1");
}

// The signature names the copy that stays in the program.
TEST(ConstantTags, ReturnedWeightIsCopied) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  Node* x = b.input("x");
  ExportedProgram& program = b.finish({b.call("aten.add.Tensor", {x, p}), p});
  to_backend(program, tagging({{"p", "t0"}, {"aten_add_tensor", "t0"}}));
  EXPECT_THAT(input_names(program), ElementsAre("p_copy_0", "x"));
  ASSERT_THAT(program.signature.outputs, SizeIs(2));
  EXPECT_EQ(program.signature.outputs[1].name, "p_copy_0");
  EXPECT_EQ(program.graph->output()->inputs()[1]->name(), "p_copy_0");
  EXPECT_EQ(program.signature.inputs[0].target, "of.p");
  EXPECT_THAT(input_names(module(program, "lowered_module_0").original), ElementsAre("p", "x"));
}

TEST(ConstantTags, RejectsSharedWeightsMarkedNoCopy) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  p->meta.no_copy = true;
  Node* x = b.input("x");
  Node* a = b.call("aten.add.Tensor", {x, p});
  ExportedProgram& program = b.finish({b.call("aten.mul.Tensor", {a, p})});
  expect_rejected(program, {{"p", "t"}, {"aten_add_tensor", "t"}},
                  "node p: is tagged t, but its user aten_mul_tensor is not delegated; the node "
                  "cannot be copied, because it is marked no_copy");
}

struct MutatedBuffer : testing::Test {
  ProgramBuilder b;
  Node* state = b.buffer("b_state");
  Node* x = b.input("x");
  Node* sum = b.call("aten.add.Tensor", {state, x});
  Node* relu = b.call("aten.relu.default", {x});
};

TEST_F(MutatedBuffer, MovesIntoDelegateTogetherWithItsMutation) {
  b.returns(relu);
  b.mutates(state, sum);
  ExportedProgram& program = b.finish();
  to_backend(program,
             tagging({{"b_state", "t"}, {"aten_add_tensor", "t"}, {"aten_relu_default", "t"}}));
  EXPECT_THAT(input_names(program), ElementsAre("x"));
  EXPECT_THAT(program.state_dict, IsEmpty());
  ASSERT_THAT(program.signature.outputs, SizeIs(1));
  EXPECT_EQ(program.signature.outputs[0].kind, OutputSpec::Kind::kUserOutput);
  const ExportedProgram& original = module(program, "lowered_module_0").original;
  ASSERT_THAT(original.signature.outputs, SizeIs(2));
  EXPECT_EQ(original.signature.outputs[0].kind, OutputSpec::Kind::kBufferMutation);
  EXPECT_EQ(original.signature.outputs[0].target, "of.b_state");
  EXPECT_EQ(original.signature.outputs[0].name, "aten_add_tensor");
  EXPECT_EQ(original.signature.outputs[1].name, "aten_relu_default");
  // The remaining result has index 0.
  const Node* call = get_lowered_submodules(*program.graph)[0].call;
  ASSERT_THAT(call->users(), SizeIs(1));
  EXPECT_EQ(call->users()[0]->args()[1], Argument(0));
  EXPECT_THAT(*call->meta.value.items(), SizeIs(1));
}

TEST_F(MutatedBuffer, MutationsBecomeTheFirstResultsOfTheDelegate) {
  Node* late = b.buffer("b_late");
  b.program.graph->move_before(late, x);
  std::swap(b.program.signature.inputs[1], b.program.signature.inputs[2]);
  Node* product = b.call("aten.mul.Tensor", {late, relu});
  b.mutates(late, product);
  b.mutates(state, sum);
  ExportedProgram& program = b.finish({relu});
  to_backend(program, tagging({{"b_state", "t"},
                               {"b_late", "t"},
                               {"aten_add_tensor", "t"},
                               {"aten_relu_default", "t"},
                               {"aten_mul_tensor", "t"}}));
  const ExportedProgram& original = module(program, "lowered_module_0").original;
  EXPECT_EQ(format_node(*original.graph->output()),
            "return [aten_add_tensor, aten_mul_tensor, aten_relu_default]");
  EXPECT_EQ(format_node(*program.graph->output()), "return (getitem_1,)");
  EXPECT_EQ(program.graph->find("getitem_1")->args()[1], Argument(0));
}

TEST_F(MutatedBuffer, StaysInProgramIfUntagged) {
  b.returns(relu);
  b.mutates(state, sum);
  ExportedProgram& program = b.finish();
  to_backend(program, tagging({{"aten_add_tensor", "t"}}));
  EXPECT_THAT(input_names(program), ElementsAre("b_state", "x"));
  ASSERT_THAT(program.signature.outputs, SizeIs(2));
  EXPECT_EQ(program.signature.outputs[1].kind, OutputSpec::Kind::kBufferMutation);
  EXPECT_EQ(program.signature.outputs[1].name, "getitem");
  const ExportedProgram& original = module(program, "lowered_module_0").original;
  EXPECT_EQ(original.signature.inputs[0].kind, InputSpec::Kind::kUserInput);
  EXPECT_EQ(original.signature.outputs[0].kind, OutputSpec::Kind::kUserOutput);
}

TEST_F(MutatedBuffer, RejectsBufferWhoseNewValueIsAlsoAnOutput) {
  b.mutates(state, sum);
  expect_rejected(b.finish({sum}), {{"b_state", "t"}, {"aten_add_tensor", "t"}},
                  testing::AllOf(HasSubstr("the buffer \"of.b_state\" cannot move"),
                                 HasSubstr("is also another output of the program"),
                                 HasSubstr("leave the buffer untagged")));
}

TEST(ConstantTags, RejectsUseOfMutatedBufferOutsideOfDelegate) {
  const struct {
    bool uses_new_value;
    const char* text;
  } cases[] = {{true, "is also used by node aten_abs_default"},
               {false, "because the program mutates it"}};
  for (const auto& [uses_new_value, text] : cases) {
    ProgramBuilder program;
    Node* buffer = program.buffer("b_state");
    Node* next = program.call("aten.add.Tensor", {buffer, program.input("x")});
    Node* user = program.call("aten.abs.default", {uses_new_value ? next : buffer});
    program.mutates(buffer, next);
    expect_rejected(program.finish({user}), {{"b_state", "t"}, {"aten_add_tensor", "t"}},
                    HasSubstr(text));
  }
}

TEST_F(MutatedBuffer, TagConstantsSkipsMutatedBuffers) {
  Node* p = b.parameter("p");
  b.program.graph->move_before(p, x);
  std::swap(b.program.signature.inputs[1], b.program.signature.inputs[2]);
  sum->set_arg(1, p);
  sum->meta.delegation_tag = "t";
  b.returns(relu);
  b.mutates(state, sum);
  ExportedProgram& program = b.finish();
  tag_constants(program);
  EXPECT_EQ(p->meta.delegation_tag, "t");
  EXPECT_EQ(state->meta.delegation_tag, "");
  tag_mutated_buffers(program);
  EXPECT_EQ(state->meta.delegation_tag, "t");
  state->meta.delegation_tag = "";
  relu->set_arg(0, state);  // a user without the tag
  tag_mutated_buffers(program);
  EXPECT_EQ(state->meta.delegation_tag, "");
}

TEST_F(MutatedBuffer, GetsNoExternalTag) {
  b.parameter("p");
  b.returns(relu);
  b.mutates(state, sum);
  ExportedProgram& program = b.finish();
  tag_external_constants(program, [](const InputSpec& weight) { return "file_" + weight.name; });
  EXPECT_EQ(state->meta.external_tag, "");
  EXPECT_EQ(x->meta.external_tag, "");
  EXPECT_EQ(program.graph->find("p")->meta.external_tag, "file_p");
}

TEST(ConstantTags, CopiedWeightsKeepTheirExternalTag) {
  ProgramBuilder b;
  Node* p = b.parameter("p");
  Node* x = b.input("x");
  Node* a = b.call("aten.add.Tensor", {x, p});
  ExportedProgram& program = b.finish({b.call("aten.mul.Tensor", {a, p})});
  tag_external_constants(program, [](const InputSpec&) { return std::string("weights"); });
  to_backend(program, tagging({{"p", "t"}, {"aten_add_tensor", "t"}}));
  EXPECT_EQ(program.graph->find("p_copy_0")->meta.external_tag, "weights");
  const Node* moved = module(program, "lowered_module_0").original.graph->find("p");
  EXPECT_EQ(moved->meta.external_tag, "weights");
}

}  // namespace
}  // namespace vitrine::aot
