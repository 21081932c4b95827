// Tests lowered modules and DelegateMappingBuilder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/lowering/delegate_mapping_builder.h"
#include "aot/lowering/lowered_modules.h"
#include "aot/lowering/to_backend.h"
#include "test/aot/lowering/program_builder.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using test::module;
using test::ProgramBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(LoweredModules, CopySharesOnlyPayload) {
  ProgramBuilder b;
  const auto lowered = to_backend(test::NamedBackend("Named"),
                                  b.finish({b.call("aten.relu.default", {b.input("x")})}));
  LoweredBackendModule copied = copy(*lowered);
  copied.original.graph->find("aten_relu_default")->meta.debug_handle = 77;
  EXPECT_EQ(lowered->original.graph->find("aten_relu_default")->meta.debug_handle, 1U);
  EXPECT_EQ(copied.payload, lowered->payload);
  EXPECT_EQ(copied.backend_id, "Named");
}

TEST(LoweredModules, DelegateProgramCallsOneDelegate) {
  ProgramBuilder b;
  Node* state = b.buffer("b_state");
  Node* p = b.parameter("p");
  Node* x = b.input("x");
  Node* sum = b.call("aten.add.Tensor", {state, p});
  Node* relu = b.call("aten.relu.default", {x});
  b.mutates(state, sum);
  ExportedProgram& original = b.finish({relu, sum});
  const ExportedProgram program =
      delegate_program(to_backend(test::NamedBackend("Named"), original));
  lint(program);
  EXPECT_EQ(format_graph(*program.graph),
            "graph():\n"
            "    %x : [num_users=1] = placeholder[target=x]\n"
            "    %lowered_module_0 : [num_users=1] = get_attr[target=lowered_module_0]\n"
            "    %executorch_call_delegate : [num_users=2] = "
            "call_function[target=torch.ops.higher_order.executorch_call_delegate](args = "
            "(%lowered_module_0, %x), kwargs = {})\n"
            "    %getitem : [num_users=1] = call_function[target=operator.getitem](args = "
            "(%executorch_call_delegate, 0), kwargs = {})\n"
            "    %getitem_1 : [num_users=1] = call_function[target=operator.getitem](args = "
            "(%executorch_call_delegate, 1), kwargs = {})\n"
            "    return (getitem, getitem_1)");
  EXPECT_THAT(program.state_dict, IsEmpty());
  EXPECT_EQ(program.graph->find("executorch_call_delegate")->meta.debug_handle, 3U);
}

TEST(LoweredModules, LintChecksDelegateCalls) {
  ProgramBuilder b;
  Node* x = b.input("x");
  ExportedProgram program = delegate_program(
      to_backend(test::NamedBackend("N"), b.finish({b.call("aten.relu.default", {x})})));
  EXPECT_NO_THROW(lint(program.copy()));
  Node* call = program.graph->find("executorch_call_delegate");
  const ArgumentList args = call->args();
  call->set_args({args[0], args[1], args[1]});
  EXPECT_ERROR(AotError, lint(program), "passes 2 inputs to lowered_module_0");
  call->set_args({args[1], args[1]});
  EXPECT_ERROR(AotError, lint(program), "its first argument is not a lowered module");
  call->set_args(args);
  call->meta.value = Value::Items{};
  EXPECT_ERROR(AotError, lint(program),
               "is not a tuple of 1 items, one for each result of lowered_module_0");
}

struct DelegateMappingTest : testing::Test {
  test::ProgramBuilder b;
  Node* x = b.input("x");                          // has no handle
  Node* first = b.call("aten.relu.default", {x});  // 1
  Node* second = b.call("aten.abs.default", {x});  // 2
  const std::vector<const Node*> both = {second, first, second, x};
};

TEST_F(DelegateMappingTest, GeneratesIdentifiers) {
  DelegateMappingBuilder builder(true);
  EXPECT_EQ(builder.insert(both), DelegateIdentifier(0U));
  EXPECT_EQ(builder.insert(*second), DelegateIdentifier(1U));
  EXPECT_EQ(builder.insert(*second), DelegateIdentifier(2U));
  EXPECT_THAT(builder.mapping(), ElementsAre(Pair(DelegateIdentifier(0U), ElementsAre(1U, 2U)),
                                             Pair(DelegateIdentifier(1U), ElementsAre(2U)),
                                             Pair(DelegateIdentifier(2U), ElementsAre(2U))));
}

TEST_F(DelegateMappingTest, RejectsAnExplicitIdentifierIfIdentifiersAreGenerated) {
  DelegateMappingBuilder builder(true);
  EXPECT_ERROR(AotError, builder.insert(*first, DelegateIdentifier(4U)),
               "the identifier 4 must not be set");
  EXPECT_THAT(builder.mapping(), IsEmpty());
}

TEST_F(DelegateMappingTest, AcceptsNumbersAndStringsAsIdentifiers) {
  DelegateMappingBuilder builder;
  EXPECT_EQ(builder.insert(*first, DelegateIdentifier("conv")), DelegateIdentifier("conv"));
  const std::vector<uint32_t> handles = {9, 0, 3};
  EXPECT_EQ(builder.insert_handles(handles, DelegateIdentifier(7U)), DelegateIdentifier(7U));
  EXPECT_THAT(builder.mapping(), ElementsAre(Pair(DelegateIdentifier("conv"), ElementsAre(1U)),
                                             Pair(DelegateIdentifier(7U), ElementsAre(3U, 9U))));
}

TEST_F(DelegateMappingTest, RejectsMissingAndRepeatedIdentifiers) {
  DelegateMappingBuilder builder;
  EXPECT_ERROR(AotError, builder.insert(*first), "needs an identifier");
  builder.insert(*first, DelegateIdentifier("conv"));
  EXPECT_ERROR(AotError, builder.insert(*second, DelegateIdentifier("conv")),
               "the identifier \"conv\" already has an entry");
}

TEST_F(DelegateMappingTest, RejectedEntriesStillConsumeAnIdentifier) {
  DelegateMappingBuilder builder(true);
  EXPECT_ERROR(AotError, builder.insert(*x),
               "the entry 0 needs at least one node with a debug handle");
  EXPECT_ERROR(AotError, builder.insert_handles({}), "the entry 1 needs");
  EXPECT_EQ(builder.insert(*first), DelegateIdentifier(2U));
}

}  // namespace
}  // namespace vitrine::aot
