#include "backends/xnnpack/aot/node_members.h"

#include <algorithm>
#include <iterator>

namespace vitrine::aot::xnnpack {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Members = flatbuffers::Offset<void>;

uint32_t in(const PayloadNode& n, size_t i) { return i < n.inputs.size() ? n.inputs[i] : kNoValue; }

uint32_t rank(const PayloadNode& n) { return static_cast<uint32_t>(n.list.size()); }

Members fully_connected(Builder& out, const PayloadNode& n) {
  return fb::CreateNodeFullyConnected(out, in(n, 0), in(n, 1), in(n, 2), n.output, n.flags).Union();
}

Members convolution(Builder& out, const PayloadNode& n) {
  const Window& w = n.window;
  return fb::CreateNodeConv(out, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left,
                            w.kernel_height, w.kernel_width, w.stride_height, w.stride_width,
                            w.dilation_height, w.dilation_width, n.group_input_channels,
                            n.group_output_channels, n.groups, n.adjustment_height,
                            n.adjustment_width, in(n, 0), in(n, 1), in(n, 2), n.output, n.flags)
      .Union();
}

Members pooling(Builder& out, const PayloadNode& n) {
  const Window& w = n.window;
  return fb::CreateNodePooling2D(out, w.padding_top, w.padding_right, w.padding_bottom,
                                 w.padding_left, w.kernel_height, w.kernel_width, w.stride_height,
                                 w.stride_width, w.dilation_height, w.dilation_width, in(n, 0),
                                 n.output, n.flags)
      .Union();
}

Members transpose(Builder& out, const PayloadNode& n) {
  const auto list = out.CreateVector(n.list);
  return fb::CreateNodeStaticTranspose(out, rank(n), list, in(n, 0), n.output, n.flags).Union();
}

Members reshape(Builder& out, const PayloadNode& n) {
  const auto list = out.CreateVector(n.list);
  return fb::CreateNodeStaticReshape(out, rank(n), list, in(n, 0), n.output, n.flags).Union();
}

Members slice(Builder& out, const PayloadNode& n) {
  const auto offsets = out.CreateVector(n.list);
  const auto sizes = out.CreateVector(n.second_list);
  return fb::CreateNodeStaticSlice(out, rank(n), offsets, sizes, in(n, 0), n.output, n.flags)
      .Union();
}

Members constant_pad(Builder& out, const PayloadNode& n) {
  const auto before = out.CreateVector(n.list);
  const auto after = out.CreateVector(n.second_list);
  return fb::CreateNodeStaticConstantPad(out, before, after, n.parameter, in(n, 0), n.output,
                                         n.flags)
      .Union();
}

Members resize(Builder& out, const PayloadNode& n) {
  return fb::CreateNodeStaticResizeBilinear2D(out, n.new_height, n.new_width, in(n, 0), n.output,
                                              n.flags)
      .Union();
}

Members leaky_relu(Builder& out, const PayloadNode& n) {
  return fb::CreateNodeLeakyReLU(out, n.parameter, in(n, 0), n.output, n.flags).Union();
}

Members elu(Builder& out, const PayloadNode& n) {
  return fb::CreateNodeELU(out, n.parameter, in(n, 0), n.output, n.flags).Union();
}

Members concatenate(Builder& out, const PayloadNode& n) {
  return fb::CreateNodeCat(out, n.axis, in(n, 0), in(n, 1), in(n, 2), in(n, 3), n.output, n.flags,
                           in(n, 4))
      .Union();
}

Members inputs_and_output(Builder& out, const PayloadNode& n) {
  if (n.inputs.size() == 2) {
    return fb::CreateNode2x1(out, in(n, 0), in(n, 1), n.output, n.flags).Union();
  }
  return fb::CreateNode1x1(out, in(n, 0), n.output, n.flags).Union();
}

struct KindMembers {
  NodeKind kind;
  Members (*write)(Builder& out, const PayloadNode& node);
};
constexpr KindMembers kMembers[] = {
    {NodeKind::XNNAvgPooling2d, pooling},
    {NodeKind::XNNConcatenate2, concatenate},
    {NodeKind::XNNConcatenate3, concatenate},
    {NodeKind::XNNConcatenate4, concatenate},
    {NodeKind::XNNConcatenate5, concatenate},
    {NodeKind::XNNConv2d, convolution},
    {NodeKind::XNNConvTranspose2d, convolution},
    {NodeKind::XNNDepthwiseConv2d, convolution},
    {NodeKind::XNNELU, elu},
    {NodeKind::XNNFullyConnected, fully_connected},
    {NodeKind::XNNLeakyReLU, leaky_relu},
    {NodeKind::XNNMaxPooling2d, pooling},
    {NodeKind::XNNStaticConstantPad, constant_pad},
    {NodeKind::XNNStaticReshape, reshape},
    {NodeKind::XNNStaticResizeBilinear2D, resize},
    {NodeKind::XNNStaticSlice, slice},
    {NodeKind::XNNStaticTranspose, transpose},
};

}  // namespace

flatbuffers::Offset<void> write_members(Builder& out, const PayloadNode& node) {
  const auto* found = std::ranges::find(kMembers, node.kind, &KindMembers::kind);
  return found == std::end(kMembers) ? inputs_and_output(out, node) : found->write(out, node);
}

}  // namespace vitrine::aot::xnnpack
