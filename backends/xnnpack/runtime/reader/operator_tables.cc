#include "backends/xnnpack/runtime/reader/operator_tables.h"

#include <algorithm>

#include "backends/xnnpack/runtime/reader/node_table.h"
#include "runtime/core/checked_math.h"

namespace vitrine::xnnpack {
namespace {

// Maximum number of output pixels in a tile of XNNPACK.
constexpr uint64_t kTile = 32;
// Maximum of a buffer's extra bytes: rounding, reads past the end, overhead of the allocation.
constexpr uint64_t kPadding = 512;

// The next two functions return UINT64_MAX on overflow.
uint64_t sum(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return add_overflows(a, b, &result) ? UINT64_MAX : result;
}
uint64_t product(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return mul_overflows(a, b, &result) ? UINT64_MAX : result;
}

// Bytes of a table with a pointer for each window element at each output pixel.
uint64_t pointers(const Window& window, uint64_t pixels) {
  return product(product(product(sizeof(void*), window.kernel_height), window.kernel_width),
                 pixels);
}

// Bytes of a table in which overlapping windows share the pointers of common columns.
uint64_t shared_pointers(const Window& window, uint64_t rows, uint64_t width) {
  const uint64_t step = window.dilation_width > 1
                            ? window.kernel_width
                            : std::min(window.stride_width, window.kernel_width);
  const uint64_t columns = sum(window.kernel_width, product(width, step));
  return product(product(product(sizeof(void*), window.kernel_height), columns), rows);
}

uint64_t padded_pixel(uint64_t channels) { return sum(product(sizeof(float), channels), kPadding); }

// In a dynamically quantized batch, each image has its own padding buffer.
uint64_t paddings_of_batch(const Graph& graph, const Node& node, std::span<const Shape> shapes) {
  if (!has_padding_for_each_image(graph, node)) return 0;
  const Shape& in = shapes[node.inputs[0]];
  return product(in[0], sum(in[3], kPadding));
}

bool is_depthwise(const Graph& graph, const Node& node) {
  return node.group_input_channels == 1 && node.group_output_channels == 1 &&
         !has_padding_for_each_image(graph, node);
}

// XNNPACK runs 1x1 convolutions as matrix products unless they are depthwise.
bool is_product(const Graph& graph, const Node& node) {
  const Window& w = node.window;
  return w.kernel_height == 1 && w.kernel_width == 1 && w.stride_height == 1 &&
         w.stride_width == 1 &&
         (w.padding_top | w.padding_right | w.padding_bottom | w.padding_left) == 0 &&
         !is_depthwise(graph, node) && !has_padding_for_each_image(graph, node);
}

}  // namespace

bool has_padding_for_each_image(const Graph& graph, const Node& node) {
  return node.kind->has_weights && node.kind->has_window &&
         graph.values[node.inputs[0]].datatype->quantization == Quantization::kPerToken;
}

uint64_t convolution_tables(const Graph& graph, const Node& node, std::span<const Shape> shapes) {
  if (is_product(graph, node)) return 0;
  const Window& w = node.window;
  const Shape& out = shapes[node.outputs[0]];
  // XNNPACK's depthwise kernel for windows of 3 x 3 shares pointers between windows. XNNPACK may
  // lack such a kernel for other windows, so their bound does not assume sharing.
  if (is_depthwise(graph, node) && w.kernel_height == 3 && w.kernel_width == 3) {
    return sum(shared_pointers(w, out[1], out[2]), kPadding);
  }
  return sum(pointers(w, sum(product(out[1], out[2]), kTile)),
             paddings_of_batch(graph, node, shapes));
}

// XNNPACK splits a transposed convolution with stride n into n convolutions.
uint64_t transposed_convolution_tables(const Graph& graph, const Node& node,
                                       std::span<const Shape> shapes) {
  const Window& w = node.window;
  const Shape& out = shapes[node.outputs[0]];
  const uint64_t parts = std::min(w.stride_width, w.kernel_width);
  return sum(pointers(w, product(out[1], sum(out[2], kTile * parts))),
             paddings_of_batch(graph, node, shapes));
}

uint64_t pooling_tables(const Graph&, const Node& node, std::span<const Shape> shapes) {
  const Shape& out = shapes[node.outputs[0]];
  return sum(shared_pointers(node.window, out[1], out[2]), kPadding);
}

uint64_t argmax_pooling_tables(const Graph&, const Node& node, std::span<const Shape> shapes) {
  const Shape& out = shapes[node.outputs[0]];
  return sum(pointers(node.window, product(out[1], out[2])), kPadding);
}

// Average pooling stores a divisor for each output pixel. Output rows whose windows overlap the
// padding have their own row of the pointer table. All other output rows share one row of the
// table.
uint64_t average_pooling_tables(const Graph&, const Node& node, std::span<const Shape> shapes) {
  const Window& w = node.window;
  const Shape& out = shapes[node.outputs[0]];
  const uint64_t rows =
      uint64_t{w.padding_top / w.stride_height} + 1 + w.padding_bottom / w.stride_height + 1 + 1;
  const uint64_t windows = sum(shared_pointers(w, rows, out[2]), kPadding);
  const uint64_t divisors = product(sizeof(float), product(out[1], out[2]));
  return sum(sum(windows, divisors), padded_pixel(out[3]));
}

uint64_t global_pooling_tables(const Graph&, const Node& node, std::span<const Shape> shapes) {
  return padded_pixel(shapes[node.inputs[0]].back(1));
}

// A bilinear resize has four pointers and two weights for each output pixel.
uint64_t resize_tables(const Graph&, const Node& node, std::span<const Shape> shapes) {
  const Shape& out = shapes[node.outputs[0]];
  return sum(product(4 * sizeof(void*) + 2 * sizeof(float), product(out[1], out[2])), kPadding);
}

uint64_t heap_bytes(const Graph& graph) {
  constexpr uint64_t kDelegate = 4096;
  constexpr uint64_t kListEntry = 512;  // bytes per value or node in Vitrine's lists, which double
                                        // as they grow
  constexpr uint64_t kArgument = 3072;  // a concatenation has an operator per input; larger on ARM
  constexpr uint64_t kSubconvolution = 72;  // bytes per part of a transposed convolution
  uint64_t bytes = kDelegate + kListEntry * (graph.values.size() + graph.nodes.size());
  for (const Node& node : graph.nodes) {
    if (!node.live) continue;
    bytes = sum(bytes, kArgument * (node.input_count + node.output_count));
    if (!node.kind->has_weights || !node.kind->has_window) continue;
    const Window& w = node.window;
    bytes = sum(bytes, padded_pixel(uint64_t{node.group_input_channels} + node.groups));
    bytes = sum(bytes, product(kSubconvolution * std::min(w.stride_height, w.kernel_height),
                               std::min(w.stride_width, w.kernel_width)));
  }
  return bytes;
}

OperatorTables::~OperatorTables() {
  if (memory_ != nullptr) memory_->give_back(bytes_);
}

Error OperatorTables::bind(const Graph& graph, Budget* memory) {
  memory_ = memory;
  return held_.assign(graph.nodes.size(), 0);
}

Error OperatorTables::grow(const Graph& graph, std::span<const Shape> shapes) {
  const auto needs = [&](size_t i) { return std::max(held_[i], bytes_of(graph, i, shapes)); };
  uint64_t all = 0;
  for (size_t i = 0; i < held_.size(); ++i) all = sum(all, needs(i));
  if (memory_ != nullptr && !memory_->take(all - bytes_)) {
    return Error::make(
        ErrorCode::kOutOfResources,
        "the operators' tables need %llu more bytes, but max_memory_bytes leaves only %llu",
        static_cast<unsigned long long>(all - bytes_),
        static_cast<unsigned long long>(memory_->left()));
  }
  bytes_ = all;
  for (size_t i = 0; i < held_.size(); ++i) held_[i] = needs(i);
  return Error();
}

void OperatorTables::settle(const Graph& graph, std::span<const Shape> shapes) {
  uint64_t all = 0;
  for (size_t i = 0; i < held_.size(); ++i) all += held_[i] = bytes_of(graph, i, shapes);
  if (memory_ != nullptr) memory_->give_back(bytes_ - all);
  bytes_ = all;
}

void OperatorTables::clear() {
  std::ranges::fill(held_, 0);
  if (memory_ != nullptr) memory_->give_back(bytes_);
  bytes_ = 0;
}

uint64_t OperatorTables::bytes_of(const Graph& graph, size_t i, std::span<const Shape> shapes) {
  const Node& node = graph.nodes[i];
  if (!node.live || node.kind->tables == nullptr) return 0;
  if (node.weights == Node::Weights::kOwnWithoutTables) return 0;
  return node.kind->tables(graph, node, shapes);
}

}  // namespace vitrine::xnnpack
