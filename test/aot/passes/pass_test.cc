#include "aot/graph/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "aot/graph/aot_error.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::StrEq;
using testing::ThrowsMessage;

// relu(x + x)
ExportedProgram small_program() {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2});
  Node* sum = build.call("aten.add.Tensor", {x, x});
  return build.finish({build.call("aten.relu.default", {sum})});
}

TEST(RunPasses, ErrorsNameThePass) {
  ExportedProgram program = small_program();
  size_t runs = 0;
  const Pass good = {"good", [&](ExportedProgram&) { ++runs; }};
  const Pass bad = {"bad", [](ExportedProgram&) { throw AotError("it failed"); }};
  const std::vector<Pass> passes = {good, bad, good};
  EXPECT_THAT([&] { run_passes(program, passes); },
              ThrowsMessage<AotError>(StrEq("bad: it failed")));
  EXPECT_EQ(runs, 1U);
}

TEST(RunPasses, ChecksTheGraphAfterEachPass) {
  ExportedProgram program = small_program();
  const std::vector<Pass> passes = {
      {"careless", [](ExportedProgram& p) { p.signature.outputs.clear(); }}};
  EXPECT_THAT([&] { run_passes(program, passes); },
              ThrowsMessage<AotError>(StartsWith("careless: ")));
}

TEST(RunAtNode, ErrorsNameTheNodeOnce) {
  EXPECT_THAT([] { run_at_node("add", [] { throw AotError("it failed"); }); },
              ThrowsMessage<AotError>(StrEq("node add: it failed")));
  EXPECT_THAT([] { run_at_node("add", [] { throw AotError("node add: it failed"); }); },
              ThrowsMessage<AotError>(StrEq("node add: it failed")));
  EXPECT_THAT([] { run_at_node("add", [] { throw std::out_of_range("at"); }); },
              ThrowsMessage<AotError>(HasSubstr("node add: ")));
}

TEST(ForEachCall, VisitorCanEraseTheCall) {
  ExportedProgram program = small_program();
  std::vector<std::string> visited;
  for_each_call(*program.graph, [&](Node& node) {
    visited.push_back(node.name());
    Node* made =
        insert_like(node, Target::of("aten.neg.default"), {node.args()[0]}, {}, node.meta.value);
    EXPECT_EQ(made->meta.origin, node.meta.origin);
    replace_node(program, node, *made);
  });
  EXPECT_THAT(visited, ElementsAre("add", "relu"));
  EXPECT_THAT(calls(program), ElementsAre("neg", "neg"));
  EXPECT_EQ(program.signature.outputs[0].name, last_call(program).name());
}

}  // namespace
}  // namespace vitrine::aot
