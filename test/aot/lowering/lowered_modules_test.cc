#include "aot/lowering/lowered_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/graph/print.h"
#include "aot/lowering/to_backend.h"
#include "test/aot/lowering/program_builder.h"

namespace vitrine::aot {
namespace {

using test::module;
using test::ProgramBuilder;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

TEST(LoweredModules, CopySharesOnlyPayload) {
  ProgramBuilder b;
  b.returns(b.call("aten.relu.default", {b.input("x")}));
  const auto lowered = to_backend(test::NamedBackend("Named"), b.finish());
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
  b.returns(relu);
  b.returns(sum);
  ExportedProgram& original = b.finish();
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
  b.returns(b.call("aten.relu.default", {x}));
  ExportedProgram program = delegate_program(to_backend(test::NamedBackend("N"), b.finish()));
  EXPECT_NO_THROW(lint(program.copy()));
  Node* call = program.graph->find("executorch_call_delegate");
  const ArgumentList args = call->args();
  call->set_args({args[0], args[1], args[1]});
  EXPECT_THAT([&] { lint(program); },
              ThrowsMessage<AotError>(HasSubstr("passes 2 inputs to lowered_module_0")));
  call->set_args({args[1], args[1]});
  EXPECT_THAT([&] { lint(program); },
              ThrowsMessage<AotError>(HasSubstr("its first argument is not a lowered module")));
  call->set_args(args);
  call->meta.value = Value::Items{};
  EXPECT_THAT(
      [&] { lint(program); },
      ThrowsMessage<AotError>(HasSubstr("not a tuple of the 1 results of lowered_module_0")));
}

}  // namespace
}  // namespace vitrine::aot
