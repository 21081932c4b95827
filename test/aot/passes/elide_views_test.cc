#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aot/passes/passes.h"
#include "examples/models/model_builder.h"
#include "test/aot/passes/lowered_program.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;

TEST(ElideViews, KeepsCopiesThatAreOutputs) {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 3});
  Node* flat = build.call("aten.view.default", {x, std::vector<int64_t>{6}});
  Node* relu = build.call("aten.relu.default", {flat});
  Node* back = build.call("aten.view.default", {relu, std::vector<int64_t>{3, 2}});
  EXPECT_THAT(executable_calls(build, back), ElementsAre("view", "relu", "view_copy"));
}

// A channels-last image and its view have their elements in different orders.
TEST(ElideViews, KeepsCopiesOfChannelsLastImages) {
  ModelBuilder build("Net");
  Node* flat = build.call("aten.reshape.default",
                          {channels_last_image(build), std::vector<int64_t>{1, 2, 12}});
  Node* relu = build.call("aten.relu.default", {flat});
  EXPECT_THAT(executable_calls(build, relu), ElementsAre("_clone_dim_order", "view_copy", "relu"));
}

}  // namespace
}  // namespace vitrine::aot
