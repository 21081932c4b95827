#include "backends/xnnpack/aot/node_members.h"

#include <gmock/gmock.h>

namespace vitrine::aot::xnnpack {
namespace {

using testing::ElementsAre;

// A node that write_members() has written to a FlatBuffer.
class WrittenNode {
 public:
  explicit WrittenNode(const PayloadNode& node) {
    const auto table = write_members(out_, node);
    out_.Finish(fb::CreateXNode(out_, node.kind, table));
  }
  const fb::XNode* operator->() const {
    return flatbuffers::GetRoot<fb::XNode>(out_.GetBufferPointer());
  }

 private:
  flatbuffers::FlatBufferBuilder out_;
};

PayloadNode node_of(NodeKind kind, std::vector<uint32_t> inputs) {
  PayloadNode node;
  node.kind = kind;
  node.inputs = std::move(inputs);
  node.output = 90;
  node.flags = 91;
  return node;
}

TEST(NodeMembers, WritesEveryFieldOfAConvolution) {
  PayloadNode node = node_of(NodeKind::XNNConv2d, {80, 81});
  node.window = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};  // padding, kernel, stride, dilation
  node.group_input_channels = 11;
  node.group_output_channels = 12;
  node.groups = 13;
  node.adjustment_height = 14;
  node.adjustment_width = 15;
  const WrittenNode written(node);
  const fb::NodeConv* found = written->xnode_union_as_XNNConv2d();
  ASSERT_NE(found, nullptr);
  using Conv = fb::NodeConv;
  std::vector<uint32_t> members;
  for (const auto member :
       {&Conv::padding_top, &Conv::padding_right, &Conv::padding_bottom, &Conv::padding_left,
        &Conv::kernel_height, &Conv::kernel_width, &Conv::subsampling_height,
        &Conv::subsampling_width, &Conv::dilation_height, &Conv::dilation_width,
        &Conv::group_input_channels, &Conv::group_output_channels, &Conv::groups,
        &Conv::adjustment_height, &Conv::adjustment_width}) {
    members.push_back((found->*member)());
  }
  EXPECT_THAT(members, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_EQ(found->input1_id(), 80u);
  EXPECT_EQ(found->filter_id(), 81u);
  EXPECT_EQ(found->bias_id(), kNoValue) << "the node has no bias";
  EXPECT_EQ(found->output_id(), 90u);
  EXPECT_EQ(found->flags(), 91u);
}

TEST(NodeMembers, WritesTheListsOfASliceAndTheSlopeOfALeakyRelu) {
  PayloadNode slice = node_of(NodeKind::XNNStaticSlice, {80});
  slice.list = {1, 2};
  slice.second_list = {3, 4};
  const WrittenNode written(slice);
  const fb::NodeStaticSlice* found = written->xnode_union_as_XNNStaticSlice();
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->num_dims(), 2u);
  EXPECT_THAT(std::vector(found->offsets()->begin(), found->offsets()->end()), ElementsAre(1, 2));
  EXPECT_THAT(std::vector(found->sizes()->begin(), found->sizes()->end()), ElementsAre(3, 4));
  PayloadNode leaky = node_of(NodeKind::XNNLeakyReLU, {80});
  leaky.parameter = 0.25f;
  const WrittenNode relu(leaky);
  EXPECT_EQ(relu->xnode_union_as_XNNLeakyReLU()->negative_slope(), 0.25f);
}

// The table stores the fifth input after the output, because the fifth input was added to the
// format later.
TEST(NodeMembers, WritesFiveInputsOfAConcatenation) {
  const WrittenNode written(node_of(NodeKind::XNNConcatenate5, {80, 81, 82, 83, 84}));
  const fb::NodeCat* found = written->xnode_union_as_XNNConcatenate5();
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->input1_id(), 80u);
  EXPECT_EQ(found->input4_id(), 83u);
  EXPECT_EQ(found->input5_id(), 84u);
  EXPECT_EQ(found->output_id(), 90u);
}

TEST(NodeMembers, WritesInputsAndOutputsOfUnaryAndBinaryNodes) {
  const WrittenNode sum(node_of(NodeKind::XNNAdd, {80, 81}));
  EXPECT_EQ(sum->xnode_union_as_XNNAdd()->input2_id(), 81u);
  EXPECT_EQ(sum->xnode_union_as_XNNAdd()->output_id(), 90u);
  const WrittenNode magnitude(node_of(NodeKind::XNNAbs, {80}));
  EXPECT_EQ(magnitude->xnode_union_as_XNNAbs()->input_id(), 80u);
  EXPECT_EQ(magnitude->xnode_union_as_XNNAbs()->output_id(), 90u);
}

}  // namespace
}  // namespace vitrine::aot::xnnpack
