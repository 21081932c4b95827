// Tests convolution, pooling and resizing nodes. XNNPACK computes them in NHWC, the portable
// kernels in NCHW.
#include <cmath>

#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "backends/xnnpack/runtime/reader/node_definition.h"
#include "test/conformance/conformance.h"

namespace vitrine::test {
namespace {

class WindowNodes : public testing::TestWithParam<NodeCase> {};
TEST_P(WindowNodes, MatchPortableKernels) { expect_conformance(GetParam()); }

Dims sliding_window_dims(const Dims& in, const WindowSpec& w, uint32_t channels) {
  return {in[0], w.result_height(in[1]), w.result_width(in[2]), channels};
}

std::vector<int32_t> nchw(const Dims& nhwc) {
  return {static_cast<int32_t>(nhwc[0]), static_cast<int32_t>(nhwc[3]),
          static_cast<int32_t>(nhwc[1]), static_cast<int32_t>(nhwc[2])};
}

// Pads an input before the portable kernel, which supports only symmetric padding.
Tensor& padded(KernelCall& call, Tensor& x, const WindowSpec& w, float value) {
  const std::vector<int32_t> s = sizes_of(x);
  const auto h = static_cast<int32_t>(w.top + w.bottom);
  const auto v = static_cast<int32_t>(w.left + w.right);
  return compute(call, "aten::constant_pad_nd.out", {s[0], s[1], s[2] + h, s[3] + v}, x,
                 call.ints({w.left, w.right, w.top, w.bottom}), double{value});
}

struct Shape {
  const char* name;
  Dims in;
  WindowSpec window;
};

WindowSpec adjust(WindowSpec w, uint32_t height, uint32_t width) {
  w.adjustment_height = height;
  w.adjustment_width = width;
  return w;
}

const std::vector<Shape> kConvolutions = {
    {"one element", {1, 1, 1, 1}, window_of(1, 1)},
    {"pointwise", {2, 3, 5, 7}, window_of(1, 1, 7, 19)},
    {"3x3 padded", {1, 7, 5, 3}, window_of(3, 3, 3, 33).padded(1)},
    {"stride 2", {2, 9, 8, 3}, window_of(3, 3, 3, 5).padded(1).strided(2, 2)},
    {"asymmetric padding", {1, 5, 6, 2}, window_of(3, 2, 2, 4).padded(0, 1, 2, 0)},
    {"dilation", {1, 9, 11, 3}, window_of(3, 3, 3, 6).padded(2, 3, 2, 3).dilated(2, 3)},
    {"groups", {2, 5, 5, 6}, window_of(3, 3, 2, 3, 3).padded(1)},
    {"uneven stride", {1, 8, 9, 4}, window_of(2, 5, 4, 3).strided(3, 2)},
    {"window as large as the input", {3, 4, 6, 5}, window_of(4, 6, 5, 8)},
};
const std::vector<Shape> kDepthwise = {
    {"one element", {1, 1, 1, 1}, window_of(1, 1)},
    {"3x3", {1, 7, 6, 19}, window_of(3, 3, 1, 1, 19).padded(1)},
    {"3x3 stride 2", {2, 9, 9, 8}, window_of(3, 3, 1, 1, 8).padded(1).strided(2, 2)},
    {"5x5", {1, 8, 8, 33}, window_of(5, 5, 1, 1, 33).padded(2)},
    {"7x3 dilated", {1, 15, 9, 4}, window_of(7, 3, 1, 1, 4).dilated(2, 1)},
    {"1x1", {1, 4, 4, 6}, window_of(1, 1, 1, 1, 6)},
    {"asymmetric padding", {1, 5, 5, 3}, window_of(3, 3, 1, 1, 3).padded(0, 2, 1, 0)},
    {"two outputs per channel", {1, 5, 5, 4}, window_of(3, 3, 1, 2, 4).padded(1)},
};
const std::vector<Shape> kTransposed = {
    {"one element", {1, 1, 1, 1}, window_of(1, 1)},
    {"stride 2", {2, 4, 5, 3}, window_of(2, 2, 3, 7).strided(2, 2)},
    {"3x3 padded", {1, 5, 4, 4}, window_of(3, 3, 4, 5).padded(1).strided(2, 2)},
    {"adjusted", {1, 4, 4, 3}, adjust(window_of(3, 3, 3, 6).padded(1).strided(2, 2), 1, 1)},
    {"stride 1", {1, 5, 6, 2}, window_of(3, 2, 2, 4).padded(1, 0, 1, 0)},
    {"groups", {1, 3, 4, 4}, window_of(2, 3, 2, 3, 2).strided(2, 1)},
    {"dilation", {1, 4, 5, 3}, window_of(3, 2, 3, 2).dilated(2, 3)},
};

// The quantization of the weights. kPlain: the same as for the activations. kByChannel: per
// channel. kDynamic: per channel, and the float activations are quantized at run time, image by
// image.
enum class Weights { kPlain, kByChannel, kDynamic };

// Converts a filter from XNNPACK's layout to PyTorch's.
Tensor& portable_filter(KernelCall& call, Tensor& filter, Tag tag, const WindowSpec& w) {
  const std::vector<int32_t> s = sizes_of(filter);
  if (tag == Tag::XNNDepthwiseConv2d) {  // [1, h, w, out] -> [out, 1, h, w]
    return permuted(call, filter, {3, 0, 1, 2});
  }
  Tensor& plain = to_nchw(call, filter);  // [groups * out, in, h, w]
  if (tag == Tag::XNNConv2d) return plain;
  // PyTorch's filter for a transposed convolution has the sizes [groups * in, out, h, w].
  const auto groups = static_cast<int32_t>(w.groups);
  const auto out = static_cast<int32_t>(w.group_out);
  const auto in = static_cast<int32_t>(w.group_in);
  Tensor& split = viewed(call, plain, {groups, out, in, s[1], s[2]});
  return viewed(call, permuted(call, split, {0, 2, 1, 3, 4}), {groups * in, out, s[1], s[2]});
}

Dims filter_dims(Tag tag, const WindowSpec& w) {
  if (tag == Tag::XNNDepthwiseConv2d) {
    return {1, w.kernel_height, w.kernel_width, w.groups * w.group_out};
  }
  return {w.groups * w.group_out, w.kernel_height, w.kernel_width, w.group_in};
}

Dims convolution_dims(Tag tag, const Shape& shape) {
  const WindowSpec& w = shape.window;
  if (tag != Tag::XNNConvTranspose2d)
    return sliding_window_dims(shape.in, w, w.groups * w.group_out);
  const auto transposed_extent = [](uint32_t extent, uint32_t stride, uint32_t kernel,
                                    uint32_t dilation, uint32_t adjustment, uint32_t padding) {
    return (extent - 1) * stride + (kernel - 1) * dilation + 1 + adjustment - padding;
  };
  return {shape.in[0],
          transposed_extent(shape.in[1], w.stride_height, w.kernel_height, w.dilation_height,
                            w.adjustment_height, w.top + w.bottom),
          transposed_extent(shape.in[2], w.stride_width, w.kernel_width, w.dilation_width,
                            w.adjustment_width, w.left + w.right),
          w.groups * w.group_out};
}

// Returns `count` elements of dimension `dim` of `x`, beginning with element `start`. This replaces
// the padding of a transposed convolution, because the portable kernel supports only symmetric
// padding.
Tensor& cropped(KernelCall& call, Tensor& x, int64_t dim, uint32_t start, uint32_t count) {
  std::vector<int32_t> s = sizes_of(x);
  s[static_cast<size_t>(dim)] = static_cast<int32_t>(count);
  return compute(call, "aten::slice_copy.Tensor_out", s, x, dim, int64_t{start},
                 int64_t{start} + count, 1);
}

Tensor& portable_convolution(KernelCall& call, Operands operands, Tag tag, Shape shape,
                             std::optional<Bounds> bounds) {
  const WindowSpec& w = shape.window;
  const bool transposed = tag == Tag::XNNConvTranspose2d;
  shape.in[0] = static_cast<uint32_t>(operands[0]->size(0));
  Tensor* x = &to_nchw(call, *operands[0]);
  if (!transposed) x = &padded(call, *x, w, 0);
  Dims out = convolution_dims(tag, shape);
  Dims uncropped = out;
  if (transposed) {
    uncropped[1] += w.top + w.bottom;
    uncropped[2] += w.left + w.right;
  }
  const EValue bias = operands.size() > 2 ? EValue(operands[2]) : KernelCall::none();
  Tensor* y = &compute(call, "aten::convolution.out", nchw(uncropped), *x,
                       portable_filter(call, *operands[1], tag, w), bias,
                       call.ints({w.stride_height, w.stride_width}), call.ints({0, 0}),
                       call.ints({w.dilation_height, w.dilation_width}), transposed,
                       call.ints({w.adjustment_height, w.adjustment_width}), int64_t{w.groups});
  if (transposed) y = &cropped(call, cropped(call, *y, 2, w.top, out[1]), 3, w.left, out[2]);
  return bounded(call, to_nhwc(call, *y), bounds);
}

NodeCase convolution_case(const char* node, Tag tag, const Shape& shape, Type type, Weights weights,
                          bool has_bias = true, std::optional<Bounds> bounds = {}) {
  NodeCase test;
  test.name = std::string(node) + " " + shape.name + " " + type_name(type) +
              (weights == Weights::kByChannel ? " by channel" : "") +
              (weights == Weights::kDynamic ? " qd8 of qc8" : "") +
              (has_bias ? "" : " without bias") + (bounds.has_value() ? " with bounds" : "");
  test.type = type;
  const WindowSpec w = shape.window;
  Operand filter{filter_dims(tag, w), -1, 1, true};
  if (type == kFloat16) filter.type = kFloat32;  // pte_lower writes f32 weights for f16 nodes
  if (weights != Weights::kPlain) {
    filter.type = Type::xnn_datatype_qcint8;
    filter.channel_dim = tag == Tag::XNNDepthwiseConv2d ? 3 : 0;
  }
  Operand bias{{w.groups * w.group_out}, -1, 1, true};
  if (type == kFloat16) bias.type = kFloat32;
  bias.bias = true;
  test.operands = {{shape.in, -1, 1}, filter};
  if (has_bias) test.operands.push_back(bias);
  test.out_dims = convolution_dims(tag, shape);
  test.build = [=](PayloadBuilder& b, Ids in, uint32_t out) {
    const uint32_t x = weights == Weights::kDynamic ? b.dynamically_quantized(in[0], 3) : in[0];
    b.convolution(tag, w, x, in[1], has_bias ? in[2] : kInvalidId, out, bounds);
  };
  test.reference = [=](KernelCall& call, Operands in) -> Tensor& {
    return portable_convolution(call, in, tag, shape, bounds);
  };
  // An output is a sum of up to 120 products of numbers below 1. XNNPACK may accumulate f16
  // products in f16.
  test.tolerance = type == kFloat16 ? 2e-2f : 3e-5f;
  if (weights == Weights::kDynamic) {  // see layer_case() in matrix_test.cc
    const auto products = static_cast<float>(w.kernel_height * w.kernel_width * w.group_in);
    test.tolerance += 0.5f * 2 / 255 * 1.02f * std::sqrt(products) * 2;
  }
  return test;
}

std::vector<NodeCase> convolution_cases() {
  std::vector<NodeCase> all;
  const struct {
    const char* name;
    Tag tag;
    const std::vector<Shape>& shapes;
  } nodes[] = {{"Conv2d", Tag::XNNConv2d, kConvolutions},
               {"DepthwiseConv2d", Tag::XNNDepthwiseConv2d, kDepthwise},
               {"ConvTranspose2d", Tag::XNNConvTranspose2d, kTransposed}};
  for (const auto& node : nodes) {
    for (const Shape& shape : node.shapes) {
      for (const Type type : kTypes) {
        const auto add = [&](Weights weights, bool bias = true, std::optional<Bounds> bounds = {}) {
          all.push_back(convolution_case(node.name, node.tag, shape, type, weights, bias, bounds));
        };
        add(Weights::kPlain);
        add(Weights::kPlain, false, Bounds{0, 0.75f});
        if (type == kInt8) add(Weights::kByChannel);
        if ((type == kFloat32 && node.tag != Tag::XNNDepthwiseConv2d) ||
            (type == kFloat16 && node.tag == Tag::XNNConv2d)) {
          add(Weights::kDynamic);
        }
      }
    }
    NodeCase empty =
        convolution_case(node.name, node.tag, node.shapes[1], kFloat32, Weights::kPlain);
    empty.name += " empty";
    empty.batches = {0};
    all.push_back(empty);
    NodeCase scaled =
        convolution_case(node.name, node.tag, node.shapes[1], kInt8, Weights::kByChannel);
    scaled.name += " scales in a constant";
    scaled.operands[1].scales_in_constant = scaled.operands[2].scales_in_constant = true;
    all.push_back(scaled);
    // These cases change the number of images, because XNNPACK has a buffer of zeros for each
    // dynamically quantized image.
    for (const Weights weights : {Weights::kPlain, Weights::kDynamic}) {
      if (weights == Weights::kDynamic && node.tag == Tag::XNNDepthwiseConv2d) continue;
      NodeCase changing = convolution_case(node.name, node.tag, node.shapes[2], kFloat32, weights);
      changing.name += " changing batch";
      changing.operands[0].dims[0] = changing.out_dims[0] = 8;
      changing.batches = {1, 4, 2, 3, 8, 1};
      changing.refuses_other_batch = weights == Weights::kDynamic;
      all.push_back(changing);
    }
  }
  // The bounds of this clamp exclude zero. If XNNPACK 4ea82e5 fused such a clamp into the
  // convolution, the bounds would change the padding (subgraph.cc).
  const Shape& shape = kConvolutions[2];
  const Bounds bounds{0.25f, 0.75f};
  NodeCase clamped =
      convolution_case("Conv2d", Tag::XNNConv2d, shape, kFloat32, Weights::kPlain, false, bounds);
  clamped.name += " in a clamp";
  clamped.build = [=, w = shape.window, dims = clamped.out_dims](PayloadBuilder& b, Ids in,
                                                                 uint32_t out) {
    const uint32_t product = b.internal(dims);
    b.convolution(Tag::XNNConv2d, w, in[0], in[1], kInvalidId, product);
    b.clamp(product, out, bounds);
  };
  all.push_back(clamped);
  NodeCase channels_last =
      convolution_case("Conv2d", Tag::XNNConv2d, kConvolutions[4], kFloat32, Weights::kPlain);
  channels_last.name += " channels last";
  channels_last.arguments = Arguments::kChannelsLast;
  all.push_back(channels_last);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Convolutions, WindowNodes, testing::ValuesIn(convolution_cases()),
                         test_name);

const std::vector<Shape> kPools = {
    {"one element", {1, 1, 1, 1}, window_of(1, 1)},
    {"2x2", {2, 6, 4, 5}, window_of(2, 2, 1, 1).strided(2, 2)},
    {"3x3 padded", {1, 7, 9, 17}, window_of(3, 3, 1, 1).padded(1)},
    {"3x3 stride 2", {1, 8, 8, 3}, window_of(3, 3, 1, 1).padded(1).strided(2, 2)},
    {"asymmetric padding", {1, 5, 5, 2}, window_of(3, 2, 1, 1).padded(0, 1, 1, 0).strided(2, 1)},
    {"tall", {1, 9, 3, 4}, window_of(5, 1, 1, 1)},
};

std::vector<NodeCase> pooling_cases() {
  std::vector<NodeCase> all;
  const auto base = [](const char* name, Tag tag, const Shape& shape, Type type) {
    NodeCase test;
    test.name = std::string(name) + " " + shape.name + " " + type_name(type);
    test.type = type;
    test.operands = {{shape.in, -3, 3}};
    test.out_dims = sliding_window_dims(shape.in, shape.window, shape.in[3]);
    test.build = [=, w = shape.window](PayloadBuilder& b, Ids in, uint32_t out) {
      b.pooling(tag, w, in[0], out);
    };
    return test;
  };
  std::vector<Shape> maxima = kPools;
  maxima.push_back({"dilation", {1, 9, 9, 3}, window_of(3, 2, 1, 1).dilated(2, 3)});
  for (const Shape& shape : maxima) {
    for (const Type type : kTypes) {
      NodeCase test = base("MaxPooling2d", Tag::XNNMaxPooling2d, shape, type);
      test.moves_only = true;
      if (shape.window.kernel_height * shape.window.kernel_width == 1 &&
          !xnnpack::optional_nodes().sparse_max_pooling) {
        test.expected_error = "xnodes[0] (MaxPooling2d): XNNPACK rejects it";
      }
      test.reference = [shape](KernelCall& call, Operands in) -> Tensor& {
        const WindowSpec& w = shape.window;
        Tensor& x = padded(call, to_nchw(call, *in[0]), w, -INFINITY);
        const std::vector<int32_t> out = nchw(sliding_window_dims(shape.in, w, shape.in[3]));
        Tensor& y = call.make(ScalarType::kFloat, out);
        Tensor& indices = call.make(ScalarType::kLong, out);
        EXPECT_TRUE(succeeds(call.run(
            "aten::max_pool2d_with_indices.out", x, call.ints({w.kernel_height, w.kernel_width}),
            call.ints({w.stride_height, w.stride_width}), call.ints({0, 0}),
            call.ints({w.dilation_height, w.dilation_width}), false, y, indices)));
        return to_nhwc(call, y);
      };
      all.push_back(test);
    }
  }
  for (const Shape& shape : kPools) {
    for (const Type type : {kFloat32, kFloat16}) {
      NodeCase test = base("AvgPooling2d", Tag::XNNAvgPooling2d, shape, type);
      // XNNPACK does not count padding in the mean. The reference divides the mean of the padded
      // input by the mean of a tensor of ones with the same padding.
      test.reference = [shape](KernelCall& call, Operands in) -> Tensor& {
        const WindowSpec& w = shape.window;
        const std::vector<int32_t> out = nchw(sliding_window_dims(shape.in, w, shape.in[3]));
        const auto mean = [&](Tensor& x) -> Tensor& {
          return compute(call, "aten::avg_pool2d.out", out, padded(call, x, w, 0),
                         call.ints({w.kernel_height, w.kernel_width}),
                         call.ints({w.stride_height, w.stride_width}), call.ints({0, 0}), false,
                         true, KernelCall::none());
        };
        Tensor& x = to_nchw(call, *in[0]);
        Tensor& ones =
            compute(call, "aten::full_like.out", sizes_of(x), x, 1.0, KernelCall::none());
        return to_nhwc(call, compute(call, "aten::div.out", out, mean(x), mean(ones)));
      };
      all.push_back(test);
      test.name += " written by ExecuTorch";  // with dilation 0 and a flag
      test.build = [w = shape.window.dilated(0, 0)](PayloadBuilder& b, Ids in, uint32_t y) {
        b.pooling(Tag::XNNAvgPooling2d, w, in[0], y, /*flags: keep dims=*/0x40);
      };
      all.push_back(test);
    }
  }
  for (const Dims& in : {Dims{1, 1, 1, 1}, Dims{2, 5, 3, 19}, Dims{1, 7, 7, 33}}) {
    for (const Type type : kTypes) {
      for (const bool keep : {true, false}) {
        const Dims out = keep ? Dims{in[0], 1, 1, in[3]} : Dims{in[0], in[3]};
        all.push_back({.name = "GlobalAvgPooling2d " + std::to_string(in[3]) + " " +
                               type_name(type) + (keep ? " keeping dims" : ""),
                       .type = type,
                       .operands = {{in, -3, 3}},
                       .out_dims = out,
                       .build = unary_node(Tag::XNNGlobalAvgPooling2d, keep ? 0x40 : 0),
                       .reference = [keep, out](KernelCall& call, Operands x) -> Tensor& {
                         return compute(call, "aten::mean.out", as_sizes(out), *x[0],
                                        call.ints({1, 2}), keep, KernelCall::none());
                       }});
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Poolings, WindowNodes, testing::ValuesIn(pooling_cases()), test_name);

std::vector<NodeCase> resize_cases() {
  std::vector<NodeCase> all;
  const struct {
    Dims in;
    uint32_t height, width;
  } shapes[] = {
      {{1, 1, 1, 1}, 1, 1}, {{1, 2, 3, 5}, 4, 6}, {{2, 5, 4, 3}, 3, 9}, {{1, 3, 3, 17}, 7, 5}};
  for (const auto& shape : shapes) {
    for (const Type type : kTypes) {
      for (const bool align : {false, true}) {
        NodeCase test;
        test.name = "StaticResizeBilinear2D " + std::to_string(shape.height) + "x" +
                    std::to_string(shape.width) + " " + type_name(type) + (align ? " aligned" : "");
        test.type = type;
        test.operands = {{shape.in, -3, 3}};
        test.out_dims = {shape.in[0], shape.height, shape.width, shape.in[3]};
        test.keeps_scale = true;
        test.tolerance = type == kFloat16 ? 5e-3f : 1e-5f;  // three roundings of values up to 3
        test.build = [=](PayloadBuilder& b, Ids x, uint32_t out) {
          b.resize(shape.height, shape.width, x[0], out, align ? 8 : 0);
        };
        test.reference = [=, out = test.out_dims](KernelCall& call, Operands x) -> Tensor& {
          return to_nhwc(call, compute(call, "aten::upsample_bilinear2d.vec_out", nchw(out),
                                       to_nchw(call, *x[0]), call.ints({shape.height, shape.width}),
                                       align, KernelCall::none()));
        };
        all.push_back(test);
      }
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Resizing, WindowNodes, testing::ValuesIn(resize_cases()), test_name);

// The node has two outputs. The second is the position of the maximum in its window.
TEST(Windows, ArgMaxPooling2d_MatchesPortableKernels) {
  const Dims in = {2, 6, 6, 5};
  WindowSpec w = window_of(2, 3, 1, 1).strided(2, 3);
  const Dims out = sliding_window_dims(in, w, in[3]);
  PayloadBuilder b;
  const uint32_t x = b.input(in), y = b.output(out);
  const uint32_t indices = b.output(out, Type::xnn_datatype_int32);
  b.argmax(w, x, y, indices);
  auto loaded = XnnpackBackend().init({}, b.build(), {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();

  KernelCall call;
  std::vector<float> numbers(360);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7919 % 361);
  Tensor& input = call.make<float>({2, 6, 6, 5}, numbers);
  Tensor& expected = call.make(ScalarType::kFloat, {2, 5, 3, 2});
  Tensor& flat = call.make(ScalarType::kLong, {2, 5, 3, 2});
  ASSERT_TRUE(succeeds(call.run("aten::max_pool2d_with_indices.out", to_nchw(call, input),
                                call.ints({2, 3}), call.ints({2, 3}), call.ints({0, 0}),
                                call.ints({1, 1}), false, expected, flat)));
  std::vector<int64_t> expected_positions;
  for (int64_t i = 0; i < flat.numel(); ++i) {
    const int64_t channel = i % 5, column = i / 5 % 2, row = i / 10 % 3, n = i / 30;
    const int64_t at = flat.data<int64_t>()[((n * 5 + channel) * 3 + row) * 2 + column];
    // XNNPACK numbers the positions of a window column by column.
    expected_positions.push_back((at % 6 - column * 3) * 2 + at / 6 - row * 2);
  }
  // The delegate widens the 32-bit positions to 64 bits in place.
  for (const ScalarType dtype : {ScalarType::kInt, ScalarType::kLong}) {
    Tensor& values = call.make(ScalarType::kFloat, {2, 3, 2, 5});
    Tensor& positions = call.make(dtype, {2, 3, 2, 5});
    EValue* arguments[] = {&call.value(input), &call.value(values), &call.value(positions)};
    ASSERT_TRUE((*loaded)->execute({}, arguments).ok());
    EXPECT_EQ(values_of<float>(values), values_of<float>(to_nhwc(call, expected)));
    for (size_t i = 0; i < expected_positions.size(); ++i) {
      EXPECT_EQ(
          dtype == ScalarType::kInt ? positions.data<int32_t>()[i] : positions.data<int64_t>()[i],
          expected_positions[i]);
    }
  }
}

}  // namespace
}  // namespace vitrine::test
