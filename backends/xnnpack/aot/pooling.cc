#include <algorithm>

#include "backends/xnnpack/aot/translations.h"
#include "backends/xnnpack/aot/translator.h"

namespace vitrine::aot::xnnpack {
namespace {

Window read_window(Translator& t, const Node& node) {
  const std::vector<int64_t> kernel = Call(node).integers("kernel_size", 2);
  const std::vector<int64_t> stride = pooling_strides(node, kernel);
  const std::vector<int64_t> padding = Call(node).integers("padding", 2);
  const auto size = [&](int64_t number) { return t.size_of(node, number); };
  Window window;
  window.kernel_height = size(kernel[0]);
  window.kernel_width = size(kernel[1]);
  window.stride_height = size(stride[0]);
  window.stride_width = size(stride[1]);
  window.padding_top = window.padding_bottom = size(padding[0]);
  window.padding_left = window.padding_right = size(padding[1]);
  return window;
}

// Returns the number of elements by which the last window exceeds the padded input.
uint32_t overhang(uint32_t input, uint32_t output, uint32_t padding, uint32_t kernel,
                  uint32_t stride, uint32_t dilation) {
  const int64_t reach =
      (int64_t{output} - 1) * stride + int64_t{dilation} * (int64_t{kernel} - 1) + 1;
  return static_cast<uint32_t>(std::max<int64_t>(reach - int64_t{input} - 2 * int64_t{padding}, 0));
}

}  // namespace

void translate_average_pool(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  made.window = read_window(t, node);
  made.window.dilation_height = made.window.dilation_width = 0;  // average pooling has no dilation
  made.flags = kKeepDims;
  t.append_call(node, std::move(made));
}

void translate_max_pool(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  Window& w = made.window;
  w = read_window(t, node);
  const std::vector<int64_t> dilation = Call(node).integers("dilation", 2);
  w.dilation_height = t.size_of(node, dilation[0]);
  w.dilation_width = t.size_of(node, dilation[1]);
  if (Call(node).boolean("ceil_mode")) {
    // XNNPACK always rounds the output size down. More padding at the end acts like ceil_mode.
    const std::vector<uint32_t> input = t.dims_of(required(node, 0));
    const std::vector<uint32_t> output = t.dims_of(node);
    if (input.size() != 4 || output.size() != 4)
      t.refuse(node, "the input is not a batch of images");
    w.padding_bottom += overhang(input[2], output[2], w.padding_top, w.kernel_height,
                                 w.stride_height, w.dilation_height);
    w.padding_right += overhang(input[3], output[3], w.padding_left, w.kernel_width, w.stride_width,
                                w.dilation_width);
  }
  made.flags = kKeepDims;
  t.append_call(node, std::move(made));
}

void translate_amax(Translator& t, Node& node, const NodeKinds& kinds) {
  PayloadNode made = t.make(node, kinds[0]);
  const std::vector<uint32_t> input = t.dims_of(required(node, 0));
  const std::vector<int64_t> dims = Call(node).integers("dim", 1);
  if (dims.size() != 1 || input.size() != 4)
    t.refuse(node, "it must reduce one dim of a 4-d tensor");
  const size_t dim = wrapped_dim(node, dims[0], 4);
  Window& w = made.window;
  if (dim == 2) w.kernel_height = w.stride_height = input[2];
  if (dim == 3) w.kernel_width = w.stride_width = input[3];
  t.append_call(node, std::move(made));
}

}  // namespace vitrine::aot::xnnpack
