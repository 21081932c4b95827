#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

ExportedProgram cache_program(bool reads_later) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {1, 3});
  Node* at = build.input("at", ScalarType::kLong, {1});
  Node* cache = build.buffer("cache", zeros({4, 3}));
  Node* old = build.call("aten.clone.default", {cache});
  Node* written = build.call("aten.index_put_.default", {cache, Argument::list({at}), x});
  Node* sum = build.call("aten.add.Tensor", {written, old});
  ExportedProgram program = build.finish({reads_later ? sum : written});
  to_edge(program);
  return program;
}

TEST(Reinplace, WritesInPlaceIfTheOldValueIsNotReadLater) {
  ExportedProgram program = cache_program(false);
  to_executable(program, {.elide_views = true, .reinplace = true});
  EXPECT_THAT(calls(program), ElementsAre("index_put_"));
  ExportedProgram without = cache_program(false);
  to_executable(without);
  EXPECT_THAT(calls(without), ElementsAre("index_put", "copy_"));
}

TEST(Reinplace, NeverOverwritesInputsThatTheProgramOnlyReads) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {4, 3});
  Node* at = build.input("at", ScalarType::kLong, {1});
  Node* row = build.input("row", ScalarType::kFloat, {1, 3});
  ExportedProgram program =
      build.finish({build.call("aten.index_put.default", {x, Argument::list({at}), row})});
  to_edge(program);
  to_executable(program, {.elide_views = true, .reinplace = true});
  EXPECT_THAT(calls(program), ElementsAre("index_put"));
}

}  // namespace
}  // namespace vitrine::aot
