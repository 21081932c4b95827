#include "backends/xnnpack/runtime/reader/node_definition.h"

#include <iterator>

#include "backends/xnnpack/runtime/reader/node_table.h"

namespace vitrine::xnnpack {
namespace {

using Ids = std::span<const uint32_t>;

uint32_t in(const Node& node, Ids ids, size_t i) { return ids[node.inputs[i]]; }
uint32_t out(const Node& node, Ids ids, size_t i = 0) { return ids[node.outputs[i]]; }
uint32_t bias(const Node& node, Ids ids) {
  return node.input_count > 2 ? in(node, ids, 2) : XNN_INVALID_VALUE_ID;
}

xnn_status unary(xnn_subgraph_t subgraph, const Node& node, Ids ids,
                 const xnn_unary_params* params) {
  return xnn_define_unary(subgraph, static_cast<xnn_unary_operator>(node.kind->operation), params,
                          in(node, ids, 0), out(node, ids), node.flags);
}

}  // namespace

xnn_status define_unary(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return unary(subgraph, node, ids, nullptr);
}

xnn_status define_clamp(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  xnn_unary_params params{};
  params.clamp.min = node.output_min;
  params.clamp.max = node.output_max;
  return unary(subgraph, node, ids, &params);
}

xnn_status define_parametric_unary(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  xnn_unary_params params{};
  if (node.kind->operation == xnn_unary_elu) {
    params.elu.alpha = node.parameter;
  } else {
    params.leaky_relu.negative_slope = node.parameter;
  }
  return unary(subgraph, node, ids, &params);
}

xnn_status define_softmax(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_softmax(subgraph, in(node, ids, 0), out(node, ids), node.flags);
}

xnn_status define_copy(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_copy(subgraph, in(node, ids, 0), out(node, ids), node.flags);
}

xnn_status define_binary(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  xnn_binary_params params{};
  params.output_min = node.output_min;
  params.output_max = node.output_max;
  return xnn_define_binary(subgraph, static_cast<xnn_binary_operator>(node.kind->operation),
                           &params, in(node, ids, 0), in(node, ids, 1), out(node, ids), node.flags);
}

xnn_status define_matrix_multiply(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_batch_matrix_multiply(subgraph, in(node, ids, 0), in(node, ids, 1),
                                          out(node, ids), node.flags);
}

xnn_status define_fully_connected(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_fully_connected(subgraph, node.output_min, node.output_max, in(node, ids, 0),
                                    in(node, ids, 1), bias(node, ids), out(node, ids), node.flags);
}

xnn_status define_convolution(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  const Window& w = node.window;
  return xnn_define_convolution_2d(subgraph, w.padding_top, w.padding_right, w.padding_bottom,
                                   w.padding_left, w.kernel_height, w.kernel_width, w.stride_height,
                                   w.stride_width, w.dilation_height, w.dilation_width, node.groups,
                                   node.group_input_channels, node.group_output_channels,
                                   node.output_min, node.output_max, in(node, ids, 0),
                                   in(node, ids, 1), bias(node, ids), out(node, ids), node.flags);
}

xnn_status define_depthwise(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  const Window& w = node.window;
  return xnn_define_depthwise_convolution_2d(
      subgraph, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left, w.kernel_height,
      w.kernel_width, w.stride_height, w.stride_width, w.dilation_height, w.dilation_width,
      /*depth_multiplier=*/node.group_output_channels, /*input_channels=*/node.groups,
      node.output_min, node.output_max, in(node, ids, 0), in(node, ids, 1), bias(node, ids),
      out(node, ids), node.flags);
}

xnn_status define_transposed_convolution(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  const Window& w = node.window;
  return xnn_define_deconvolution_2d(
      subgraph, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left,
      node.adjustment_height, node.adjustment_width, w.kernel_height, w.kernel_width,
      w.stride_height, w.stride_width, w.dilation_height, w.dilation_width, node.groups,
      node.group_input_channels, node.group_output_channels, node.output_min, node.output_max,
      in(node, ids, 0), in(node, ids, 1), bias(node, ids), out(node, ids), node.flags);
}

xnn_status define_average_pooling(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  const Window& w = node.window;
  return xnn_define_average_pooling_2d(
      subgraph, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left, w.kernel_height,
      w.kernel_width, w.stride_height, w.stride_width, node.output_min, node.output_max,
      in(node, ids, 0), out(node, ids), node.flags);
}

xnn_status define_max_pooling(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  const Window& w = node.window;
  return xnn_define_max_pooling_2d(
      subgraph, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left, w.kernel_height,
      w.kernel_width, w.stride_height, w.stride_width, w.dilation_height, w.dilation_width,
      node.output_min, node.output_max, in(node, ids, 0), out(node, ids), node.flags);
}

xnn_status define_argmax_pooling(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  const Window& w = node.window;
  return xnn_define_argmax_pooling_2d(
      subgraph, w.padding_top, w.padding_right, w.padding_bottom, w.padding_left, w.kernel_height,
      w.kernel_width, in(node, ids, 0), out(node, ids, 0), out(node, ids, 1), node.flags);
}

xnn_status define_global_average_pooling(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  const int64_t height_and_width[] = {-3, -2};
  return xnn_define_static_reduce_v2(subgraph, xnn_reduce_mean, std::size(height_and_width),
                                     height_and_width, in(node, ids, 0), out(node, ids),
                                     node.flags);
}

xnn_status define_transpose(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_static_transpose(subgraph, node.list.count, node.list.items.data(),
                                     in(node, ids, 0), out(node, ids), node.flags);
}

xnn_status define_reshape(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_static_reshape(subgraph, node.list.count, node.list.items.data(),
                                   in(node, ids, 0), out(node, ids), node.flags);
}

xnn_status define_slice(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_static_slice(subgraph, node.list.count, node.list.items.data(),
                                 node.second_list.items.data(), in(node, ids, 0), out(node, ids),
                                 node.flags);
}

xnn_status define_resize(xnn_subgraph_t subgraph, const Node& node, Ids ids) {
  return xnn_define_static_resize_bilinear_2d(subgraph, node.new_height, node.new_width,
                                              in(node, ids, 0), out(node, ids), node.flags);
}

}  // namespace vitrine::xnnpack
