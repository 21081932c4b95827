// Tests the errors of passes. If arguments of a call are replaced or removed, the passes must
// either succeed or throw AotError.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

#include "aot/graph/aot_error.h"
#include "aot/graph/pass.h"
#include "aot/import/pt2.h"
#include "aot/passes/pipelines.h"
#include "test/aot/passes/cache_update.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/corpus.h"
#include "test/support/expect_error.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::StrEq;
using testing::ThrowsMessage;

// relu(x + x)
ExportedProgram small_program() {
  Net build({2});
  Node* sum = build.call("aten.add.Tensor", {build.x, build.x});
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
  EXPECT_ERROR(AotError, run_at_node("add", [] { throw std::out_of_range("at"); }), "node add: ");
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

TEST(Decompose, GroupNormOfChannelsLastImageRunsInRowMajorOrder) {
  ModelBuilder build("Net");
  Node* image = channels_last_image(build);
  Node* norm = build.call_as("aten.group_norm.default", {image, 1}, {}, *image->tensor());
  EXPECT_THAT(executable_calls(build, norm),
              ElementsAre("_clone_dim_order", "_clone_dim_order", "native_group_norm", "getitem",
                          "_clone_dim_order"));
}

TEST(Decompose, ErrorNamesOperatorWithoutDecomposition) {
  Net build({2, 2});
  Node* inverse = build.call_as("aten.linalg_inv.default", {build.x}, {}, build.x->meta.value);
  ExportedProgram program = build.finish({inverse});
  EXPECT_THAT([&] { to_edge(program); },
              ThrowsMessage<AotError>(testing::AllOf(
                  HasSubstr("decompose: node linalg_inv (aten.linalg_inv.default), pass_test.cc:"),
                  HasSubstr(": the operator has no decomposition and no kernel"))));
}

// The effects of an unknown operator are unknown, so the pass can neither keep nor remove the call.
// It must reject the program.
TEST(Decompose, RejectsUnknownOperators) {
  const Build make = [](ModelBuilder& build, const Nodes& in) {
    build.call_as("mylib.update.default", {in[1], in[0]}, {}, *in[1]->tensor());
    return build.call("aten.relu.default", {in[0]});
  };
  EXPECT_ERROR(AotError, run({kCache, kRow}, make),
               "mylib.update.default is unknown, so it may write to any");
}

namespace fs = std::filesystem;

std::vector<Argument> damages() {
  return {Argument(),
          Argument(std::numeric_limits<int64_t>::min()),
          Argument(std::numeric_limits<int64_t>::max()),
          Argument(-1),
          Argument(0.5),
          Argument("text"),
          Argument::list({}),
          Argument::list({std::numeric_limits<int64_t>::max()}),
          Argument::list({Argument()})};
}

size_t num_changes(const ExportedProgram& program) {
  size_t arguments = 0;
  for (const Node& node : program.graph->nodes()) {
    if (node.is_call()) arguments += node.args().size();
  }
  return arguments * (damages().size() + 1);
}

void damage(ExportedProgram& program, size_t number) {
  const std::vector<Argument> all = damages();
  for (Node& node : program.graph->nodes()) {
    if (!node.is_call()) continue;
    const size_t count = node.args().size() * (all.size() + 1);
    if (number >= count) {
      number -= count;
      continue;
    }
    const size_t index = number / (all.size() + 1);
    const size_t kind = number % (all.size() + 1);
    if (kind < all.size()) {
      node.set_arg(index, all[kind]);
    } else {  // remove the arguments from `index` on
      ArgumentList args = node.args();
      args.resize(index);
      node.set_args(std::move(args));
    }
    return;
  }
}

// Returns the maximum number of damaged copies to test per program. The number is unlimited unless
// VITRINE_DAMAGE_COUNT is set (docs/fuzzing.md).
size_t most_changes() {
  const char* count = std::getenv("VITRINE_DAMAGE_COUNT");
  return count == nullptr ? std::numeric_limits<size_t>::max() : std::strtoul(count, nullptr, 10);
}

TEST(DamagedProgram, IsLoweredOrRejected) {
  VITRINE_NEEDS_CORPUS();
  size_t rejected = 0;
  size_t lowered = 0;
  for (const auto& entry : fs::directory_iterator(test::corpus_dir() / "ops_portable")) {
    const fs::path file = entry.path() / "model.pt2";
    if (!fs::exists(file)) continue;
    const ExportedProgram original = import_pt2(file);
    const size_t possible = num_changes(original);
    const size_t tried = std::min(possible, most_changes());
    for (size_t i = 0; i < tried; ++i) {
      const size_t number = i * possible / tried;  // spread over the program
      ExportedProgram program = original.copy();
      damage(program, number);
      SCOPED_TRACE(entry.path().filename().string() + " " + std::to_string(number));
      try {
        to_edge(program);
        to_executable(program);
        ++lowered;
      } catch (const AotError&) {
        ++rejected;
      } catch (const std::exception& error) {
        ADD_FAILURE() << "not an AotError: " << error.what();
      }
    }
  }
  std::printf("%zu damaged programs rejected, %zu lowered\n", rejected, lowered);
  EXPECT_GT(rejected, 1000U);
}

}  // namespace
}  // namespace vitrine::aot
