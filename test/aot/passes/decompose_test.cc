#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/graph/aot_error.h"
#include "test/aot/passes/cache_update.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Decompose, GroupNormsOfChannelsLastImagesAreRowMajor) {
  ModelBuilder build("Net");
  Node* image = channels_last_image(build);
  Node* norm = build.call_as("aten.group_norm.default", {image, 1}, {}, *image->tensor());
  EXPECT_THAT(executable_calls(build, norm),
              ElementsAre("_clone_dim_order", "_clone_dim_order", "native_group_norm", "getitem",
                          "_clone_dim_order"));
}

TEST(Decompose, NamesWhatItDoesNotKnow) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 2});
  Node* inverse = build.call_as("aten.linalg_inv.default", {x}, {}, x->meta.value);
  ExportedProgram program = build.finish({inverse});
  try {
    to_edge(program);
    FAIL() << "was taken";
  } catch (const AotError& error) {
    EXPECT_THAT(error.what(), HasSubstr("decompose: node linalg_inv (aten.linalg_inv.default), "
                                        "decompose_test.cc:"));
    EXPECT_THAT(error.what(), HasSubstr(": no decomposition is known, and no kernel computes it"));
  }
}

// Its effects cannot be known, so that it is neither dropped nor taken.
TEST(Decompose, RefusesUnknownOperatorsAmongWrites) {
  const auto lower = [] {
    run({kCache, kRow}, [](ModelBuilder& build, const Nodes& in) {
      build.call_as("mylib.update.default", {in[1], in[0]}, {}, *in[1]->tensor());
      return build.call("aten.relu.default", {in[0]});
    });
  };
  EXPECT_THAT(lower, ThrowsMessage<AotError>(
                         HasSubstr("mylib.update.default is unknown, and so is what it writes")));
}

}  // namespace
}  // namespace vitrine::aot
