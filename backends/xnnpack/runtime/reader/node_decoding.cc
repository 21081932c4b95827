#include "backends/xnnpack/runtime/reader/node_decoding.h"

#include <algorithm>
#include <initializer_list>

#include "schema/xnnpack_graph_generated.h"

namespace vitrine::xnnpack {
namespace {

namespace fb = schema::xnnpack;

template <class Table>
const Table& as(const void* table) {
  return *static_cast<const Table*>(table);
}

void set_values(Node& node, std::initializer_list<uint32_t> inputs,
                std::initializer_list<uint32_t> outputs) {
  node.input_count = static_cast<uint32_t>(inputs.size());
  node.output_count = static_cast<uint32_t>(outputs.size());
  std::ranges::copy(inputs, node.inputs.begin());
  std::ranges::copy(outputs, node.outputs.begin());
}

Error read_list(const char* name, const flatbuffers::Vector<uint32_t>* from, DimList& to) {
  if (from == nullptr) return Error::make(ErrorCode::kInvalidProgram, "%s is missing", name);
  if (from->size() == 0 || from->size() > kMaxDims) {
    return Error::make(ErrorCode::kInvalidProgram, "%s has %u entries, not 1 to %zu", name,
                       from->size(), kMaxDims);
  }
  to.count = from->size();
  std::ranges::copy(*from, to.items.begin());
  return Error();
}

struct Named {
  const char* name;
  uint32_t value;
};

Error check_positive(std::initializer_list<Named> fields) {
  for (const Named& field : fields) {
    if (field.value == 0) return Error::make(ErrorCode::kInvalidProgram, "%s is 0", field.name);
  }
  return Error();
}

// Maximum of a padding, kernel size, stride or dilation. Real models stay far below this limit, and
// sums of a few such numbers cannot overflow.
constexpr uint32_t kMaxExtent = 1u << 22;

Error check_extents(const Window& window) {
  for (const uint32_t extent :
       {window.padding_top, window.padding_right, window.padding_bottom, window.padding_left,
        window.kernel_height, window.kernel_width, window.stride_height, window.stride_width,
        window.dilation_height, window.dilation_width}) {
    if (extent > kMaxExtent) {
      return Error::make(ErrorCode::kInvalidProgram,
                         "a padding, kernel, stride or dilation is %u, more than the maximum of %u",
                         extent, kMaxExtent);
    }
  }
  return Error();
}

template <class Table>
void read_padding(const Table& table, Window& window) {
  window.padding_top = table.padding_top();
  window.padding_right = table.padding_right();
  window.padding_bottom = table.padding_bottom();
  window.padding_left = table.padding_left();
}

Error read_pooling(const fb::NodePooling2D& pool, Node& node) {
  read_padding(pool, node.window);
  node.window.kernel_height = pool.pooling_height();
  node.window.kernel_width = pool.pooling_width();
  node.window.stride_height = pool.stride_height();
  node.window.stride_width = pool.stride_width();
  node.flags = pool.flags();
  set_values(node, {pool.input_id()}, {pool.output_id()});
  VITRINE_RETURN_IF_ERROR(check_positive({{"pooling_height", pool.pooling_height()},
                                          {"pooling_width", pool.pooling_width()},
                                          {"stride_height", pool.stride_height()},
                                          {"stride_width", pool.stride_width()}}));
  return check_extents(node.window);
}

}  // namespace

Error decode_1x1(const void* table, Node& node) {
  const auto& from = as<fb::Node1x1>(table);
  set_values(node, {from.input_id()}, {from.output_id()});
  node.flags = from.flags();
  return Error();
}

Error decode_2x1(const void* table, Node& node) {
  const auto& from = as<fb::Node2x1>(table);
  set_values(node, {from.input1_id(), from.input2_id()}, {from.output_id()});
  node.flags = from.flags();
  return Error();
}

template <uint32_t kInputs>
Error decode_cat(const void* table, Node& node) {
  const auto& from = as<fb::NodeCat>(table);
  set_values(
      node,
      {from.input1_id(), from.input2_id(), from.input3_id(), from.input4_id(), from.input5_id()},
      {from.output_id()});
  node.input_count = kInputs;
  node.axis = from.axis();
  node.flags = from.flags();
  return Error();
}
template Error decode_cat<2>(const void* table, Node& node);
template Error decode_cat<3>(const void* table, Node& node);
template Error decode_cat<4>(const void* table, Node& node);
template Error decode_cat<5>(const void* table, Node& node);

Error decode_elu(const void* table, Node& node) {
  const auto& from = as<fb::NodeELU>(table);
  set_values(node, {from.input_id()}, {from.output_id()});
  node.parameter = from.alpha();
  node.flags = from.flags();
  return Error();
}

Error decode_leaky_relu(const void* table, Node& node) {
  const auto& from = as<fb::NodeLeakyReLU>(table);
  set_values(node, {from.input_id()}, {from.output_id()});
  node.parameter = from.negative_slope();
  node.flags = from.flags();
  return Error();
}

Error decode_fully_connected(const void* table, Node& node) {
  const auto& from = as<fb::NodeFullyConnected>(table);
  set_values(node, {from.input1_id(), from.filter_id(), from.bias_id()}, {from.output_id()});
  node.flags = from.flags();
  return Error();
}

Error decode_attention(const void* table, Node& node) {
  const auto& from = as<fb::NodeScaledDotProductAttention>(table);
  set_values(node,
             {from.query_id(), from.key_id(), from.value_id(), from.scale_id(), from.mask_id()},
             {from.output_id()});
  node.flags = from.flags();
  return Error();
}

Error decode_convolution(const void* table, Node& node) {
  const auto& from = as<fb::NodeConv>(table);
  set_values(node, {from.input1_id(), from.filter_id(), from.bias_id()}, {from.output_id()});
  node.flags = from.flags();
  read_padding(from, node.window);
  node.window.kernel_height = from.kernel_height();
  node.window.kernel_width = from.kernel_width();
  node.window.stride_height = from.subsampling_height();
  node.window.stride_width = from.subsampling_width();
  node.window.dilation_height = from.dilation_height();
  node.window.dilation_width = from.dilation_width();
  node.group_input_channels = from.group_input_channels();
  node.group_output_channels = from.group_output_channels();
  node.groups = from.groups();
  node.adjustment_height = from.adjustment_height();
  node.adjustment_width = from.adjustment_width();
  VITRINE_RETURN_IF_ERROR(check_positive({{"kernel_height", from.kernel_height()},
                                          {"kernel_width", from.kernel_width()},
                                          {"subsampling_height", from.subsampling_height()},
                                          {"subsampling_width", from.subsampling_width()},
                                          {"dilation_height", from.dilation_height()},
                                          {"dilation_width", from.dilation_width()},
                                          {"group_input_channels", from.group_input_channels()},
                                          {"group_output_channels", from.group_output_channels()},
                                          {"groups", from.groups()}}));
  return check_extents(node.window);
}

Error decode_pooling(const void* table, Node& node) {
  const auto& from = as<fb::NodePooling2D>(table);
  node.window.dilation_height = from.dilation_height();
  node.window.dilation_width = from.dilation_width();
  VITRINE_RETURN_IF_ERROR(check_positive(
      {{"dilation_height", from.dilation_height()}, {"dilation_width", from.dilation_width()}}));
  return read_pooling(from, node);
}

Error decode_average_pooling(const void* table, Node& node) {
  return read_pooling(as<fb::NodePooling2D>(table), node);
}

Error decode_argmax_pooling(const void* table, Node& node) {
  const auto& from = as<fb::NodeArgMaxPooling2d>(table);
  set_values(node, {from.input_id()}, {from.output_value_id(), from.output_index_id()});
  node.flags = from.flags();
  read_padding(from, node.window);
  // The stride of an argmax pooling equals the size of its window.
  node.window.kernel_height = node.window.stride_height = from.pooling_height();
  node.window.kernel_width = node.window.stride_width = from.pooling_width();
  VITRINE_RETURN_IF_ERROR(check_positive(
      {{"pooling_height", from.pooling_height()}, {"pooling_width", from.pooling_width()}}));
  return check_extents(node.window);
}

Error decode_transpose(const void* table, Node& node) {
  const auto& from = as<fb::NodeStaticTranspose>(table);
  set_values(node, {from.input_id()}, {from.output_id()});
  node.flags = from.flags();
  VITRINE_RETURN_IF_ERROR(read_list("perm", from.perm(), node.list));
  uint32_t seen = 0;
  for (size_t i = 0; i < node.list.count; ++i) {
    if (node.list[i] < node.list.count) seen |= 1u << node.list[i];
  }
  if (seen != (1u << node.list.count) - 1) {
    return Error::make(ErrorCode::kInvalidProgram, "perm is not a permutation");
  }
  return Error();
}

Error decode_resize(const void* table, Node& node) {
  const auto& from = as<fb::NodeStaticResizeBilinear2D>(table);
  set_values(node, {from.input_id()}, {from.output_id()});
  node.flags = from.flags();
  node.new_height = from.new_height();
  node.new_width = from.new_width();
  return check_positive({{"new_height", from.new_height()}, {"new_width", from.new_width()}});
}

Error decode_constant_pad(const void* table, Node& node) {
  const auto& from = as<fb::NodeStaticConstantPad>(table);
  set_values(node, {from.input_id()}, {from.output_id()});
  node.flags = from.flags();
  node.parameter = from.padding_value();
  VITRINE_RETURN_IF_ERROR(read_list("pre_paddings", from.pre_paddings(), node.list));
  VITRINE_RETURN_IF_ERROR(read_list("post_paddings", from.post_paddings(), node.second_list));
  if (node.list.count != node.second_list.count) {
    return Error::make(ErrorCode::kInvalidProgram, "it has %zu pre_paddings, but %zu post_paddings",
                       node.list.count, node.second_list.count);
  }
  return Error();
}

Error decode_reshape(const void* table, Node& node) {
  const auto& from = as<fb::NodeStaticReshape>(table);
  set_values(node, {from.input_id()}, {from.output_id()});
  node.flags = from.flags();
  VITRINE_RETURN_IF_ERROR(read_list("new_shape", from.new_shape(), node.list));
  if (std::ranges::count(std::span(node.list.items.data(), node.list.count), size_t{0}) > 1) {
    return Error::make(ErrorCode::kInvalidProgram, "new_shape has more than one 0");
  }
  return Error();
}

Error decode_slice(const void* table, Node& node) {
  const auto& from = as<fb::NodeStaticSlice>(table);
  set_values(node, {from.input_id()}, {from.output_id()});
  node.flags = from.flags();
  VITRINE_RETURN_IF_ERROR(read_list("offsets", from.offsets(), node.list));
  VITRINE_RETURN_IF_ERROR(read_list("sizes", from.sizes(), node.second_list));
  if (node.list.count != node.second_list.count) {
    return Error::make(ErrorCode::kInvalidProgram, "it has %zu offsets, but %zu sizes",
                       node.list.count, node.second_list.count);
  }
  return Error();
}

}  // namespace vitrine::xnnpack
