#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "test/aot/passes/cache_update.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Decompose, GroupNormOfChannelsLastImageRunsInRowMajorOrder) {
  ModelBuilder build("Net");
  Node* image = channels_last_image(build);
  Node* norm = build.call_as("aten.group_norm.default", {image, 1}, {}, *image->tensor());
  EXPECT_THAT(executable_calls(build, norm),
              ElementsAre("_clone_dim_order", "_clone_dim_order", "native_group_norm", "getitem",
                          "_clone_dim_order"));
}

TEST(Decompose, ErrorNamesOperatorWithoutDecomposition) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 2});
  Node* inverse = build.call_as("aten.linalg_inv.default", {x}, {}, x->meta.value);
  ExportedProgram program = build.finish({inverse});
  try {
    to_edge(program);
    FAIL() << "to_edge() accepted an operator without a decomposition";
  } catch (const AotError& error) {
    EXPECT_THAT(error.what(), HasSubstr("decompose: node linalg_inv (aten.linalg_inv.default), "
                                        "decompose_test.cc:"));
    EXPECT_THAT(error.what(), HasSubstr(": the operator has no decomposition and no kernel"));
  }
}

// The effects of an unknown operator are unknown, so the pass can neither keep nor remove the call.
// It must reject the program.
TEST(Decompose, RejectsUnknownOperators) {
  const auto lower = [] {
    run({kCache, kRow}, [](ModelBuilder& build, const Nodes& in) {
      build.call_as("mylib.update.default", {in[1], in[0]}, {}, *in[1]->tensor());
      return build.call("aten.relu.default", {in[0]});
    });
  };
  EXPECT_THAT(lower, ThrowsMessage<AotError>(
                         HasSubstr("mylib.update.default is unknown, so it may write to any")));
}

}  // namespace
}  // namespace vitrine::aot
