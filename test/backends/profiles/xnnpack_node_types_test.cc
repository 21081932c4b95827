#include "backends/profiles/xnnpack_node_types.h"

#include <gtest/gtest.h>

namespace vitrine::xnnpack {
namespace {

// docs/formats/xnnpack_payload.md lists the ops of each node type.
TEST(NodeTypes, MatchTheOpsThatTheyCompute) {
  EXPECT_TRUE(is_op_of_node_type("convolution", "Conv2d"));
  EXPECT_TRUE(is_op_of_node_type("convolution", "XNNDepthwiseConv2d"));
  EXPECT_TRUE(is_op_of_node_type("convolution", "ConvTranspose2d")) << "the last of three";
  EXPECT_TRUE(is_op_of_node_type("max_pool2d_with_indices", "MaxPooling2d"))
      << "the op that ExecuTorch's lowering delegates";
  EXPECT_TRUE(is_op_of_node_type("elu", "ELU"));
}

TEST(NodeTypes, MatchCompleteNamesOnly) {
  EXPECT_FALSE(is_op_of_node_type("convolution", "Conv2"));
  EXPECT_FALSE(is_op_of_node_type("convolution", "Conv2d,"));
  EXPECT_FALSE(is_op_of_node_type("convolution", ""));
  EXPECT_FALSE(is_op_of_node_type("conv", "Conv2d"));
  EXPECT_FALSE(is_op_of_node_type("add", "Conv2d"));
  EXPECT_FALSE(is_op_of_node_type("", "Conv2d"));
}

}  // namespace
}  // namespace vitrine::xnnpack
