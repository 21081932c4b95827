#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

// A program that calls a subgraph (a) -> (relu(a), neg(relu(a))) and returns its second result.
ExportedProgram wrapped_in(const char* wrapper, const ArgumentList& mode) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  Node* sum = build.call("aten.add.Tensor", {x, x});
  const TensorSpec spec = *x->tensor();
  ExportedProgram program = build.finish({sum});
  auto body = std::make_unique<Graph>();
  Node* a = body->placeholder("a");
  a->meta.value = spec;
  Node* positive = body->call(Target::of("aten.relu.default"), {a});
  positive->meta.value = spec;
  Node* negative = body->call(Target::of("aten.neg.default"), {positive});
  negative->meta.value = spec;
  body->set_output(Argument::tuple({positive, negative}));
  Graph& graph = *program.graph;
  Node* place = graph.output();
  Node* attribute = graph.get_attr("submod_1", place);
  graph.subgraphs()[attribute->attribute()] = std::move(body);
  ArgumentList args = mode;
  args.emplace_back(attribute);
  args.emplace_back(graph.find(sum->name()));
  Node* call = graph.call(Target::of(wrapper, Dialect::kHigherOrder), args, {}, place);
  call->meta.value = Value::Items{spec, spec};
  Node* second = graph.call(getitem(), {call, 1}, {}, place);
  second->meta.value = spec;
  graph.output()->set_args({Argument::tuple({second})});
  program.signature.outputs[0].name = second->name();
  return program;
}

TEST(InlineWrapped, InlinesCallsWrappedInGradAndAutocastModes) {
  std::vector<ExportedProgram> programs;
  programs.push_back(wrapped_in("wrap_with_set_grad_enabled", {false}));
  programs.push_back(wrapped_in("wrap_with_autocast", {"cpu", Argument(), false, Argument()}));
  for (ExportedProgram& program : programs) {
    inline_wrapped(program);
    lint(program);
    EXPECT_THAT(calls(program), ElementsAre("add.Tensor", "relu", "neg"));
    EXPECT_TRUE(program.graph->subgraphs().empty());
    EXPECT_EQ(program.signature.outputs[0].name, "neg");
  }
}

TEST(InlineWrapped, RejectsEnabledAutocast) {
  ExportedProgram program = wrapped_in("wrap_with_autocast", {"cpu", Argument(), true, Argument()});
  EXPECT_THROW(inline_wrapped(program), AotError);
}

}  // namespace
}  // namespace vitrine::aot
