// Convolutions, poolings and resizing: NHWC on XNNPACK, NCHW on the portable kernels.
#include <cmath>

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "test/conformance/conformance.h"

namespace vitrine::test {
namespace {

class WindowNodes : public testing::TestWithParam<NodeCase> {};
TEST_P(WindowNodes, AsPortable) { expect_conformance(GetParam()); }

uint32_t steps(uint32_t extent, uint32_t padding, uint32_t kernel, uint32_t dilation,
               uint32_t stride) {
  return (extent + padding - (kernel - 1) * dilation - 1) / stride + 1;
}

Dims slid(const Dims& in, const WindowSpec& w, uint32_t channels) {
  return {
      in[0], steps(in[1], w.top + w.bottom, w.kernel_height, w.dilation_height, w.stride_height),
      steps(in[2], w.left + w.right, w.kernel_width, w.dilation_width, w.stride_width), channels};
}

std::vector<int32_t> nchw(const Dims& nhwc) {
  return {static_cast<int32_t>(nhwc[0]), static_cast<int32_t>(nhwc[3]),
          static_cast<int32_t>(nhwc[1]), static_cast<int32_t>(nhwc[2])};
}

// Portable kernels support only symmetric padding; other inputs are padded before.
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

WindowSpec window(uint32_t kh, uint32_t kw, uint32_t group_in, uint32_t group_out,
                  uint32_t groups = 1) {
  WindowSpec w;
  w.kernel_height = kh;
  w.kernel_width = kw;
  w.group_in = group_in;
  w.group_out = group_out;
  w.groups = groups;
  return w;
}
WindowSpec pad(WindowSpec w, uint32_t top, uint32_t right, uint32_t bottom, uint32_t left) {
  w.top = top;
  w.right = right;
  w.bottom = bottom;
  w.left = left;
  return w;
}
WindowSpec stride(WindowSpec w, uint32_t height, uint32_t width) {
  w.stride_height = height;
  w.stride_width = width;
  return w;
}
WindowSpec dilate(WindowSpec w, uint32_t height, uint32_t width) {
  w.dilation_height = height;
  w.dilation_width = width;
  return w;
}
WindowSpec adjust(WindowSpec w, uint32_t height, uint32_t width) {
  w.adjustment_height = height;
  w.adjustment_width = width;
  return w;
}

const std::vector<Shape> kConvolutions = {
    {"one element", {1, 1, 1, 1}, window(1, 1, 1, 1)},
    {"pointwise", {2, 3, 5, 7}, window(1, 1, 7, 19)},
    {"3x3 padded", {1, 7, 5, 3}, pad(window(3, 3, 3, 33), 1, 1, 1, 1)},
    {"stride 2", {2, 9, 8, 3}, stride(pad(window(3, 3, 3, 5), 1, 1, 1, 1), 2, 2)},
    {"asymmetric padding", {1, 5, 6, 2}, pad(window(3, 2, 2, 4), 0, 1, 2, 0)},
    {"dilation", {1, 9, 11, 3}, dilate(pad(window(3, 3, 3, 6), 2, 3, 2, 3), 2, 3)},
    {"groups", {2, 5, 5, 6}, pad(window(3, 3, 2, 3, 3), 1, 1, 1, 1)},
    {"uneven stride", {1, 8, 9, 4}, stride(window(2, 5, 4, 3), 3, 2)},
    {"whole window", {3, 4, 6, 5}, window(4, 6, 5, 8)},
};
const std::vector<Shape> kDepthwise = {
    {"one element", {1, 1, 1, 1}, window(1, 1, 1, 1)},
    {"3x3", {1, 7, 6, 19}, pad(window(3, 3, 1, 1, 19), 1, 1, 1, 1)},
    {"3x3 stride 2", {2, 9, 9, 8}, stride(pad(window(3, 3, 1, 1, 8), 1, 1, 1, 1), 2, 2)},
    {"5x5", {1, 8, 8, 33}, pad(window(5, 5, 1, 1, 33), 2, 2, 2, 2)},
    {"7x3 dilated", {1, 15, 9, 4}, dilate(window(7, 3, 1, 1, 4), 2, 1)},
    {"1x1", {1, 4, 4, 6}, window(1, 1, 1, 1, 6)},
    {"asymmetric padding", {1, 5, 5, 3}, pad(window(3, 3, 1, 1, 3), 0, 2, 1, 0)},
    {"two outputs a channel", {1, 5, 5, 4}, pad(window(3, 3, 1, 2, 4), 1, 1, 1, 1)},
};
const std::vector<Shape> kTransposed = {
    {"one element", {1, 1, 1, 1}, window(1, 1, 1, 1)},
    {"stride 2", {2, 4, 5, 3}, stride(window(2, 2, 3, 7), 2, 2)},
    {"3x3 padded", {1, 5, 4, 4}, stride(pad(window(3, 3, 4, 5), 1, 1, 1, 1), 2, 2)},
    {"adjusted", {1, 4, 4, 3}, adjust(stride(pad(window(3, 3, 3, 6), 1, 1, 1, 1), 2, 2), 1, 1)},
    {"stride 1", {1, 5, 6, 2}, pad(window(3, 2, 2, 4), 1, 0, 1, 0)},
    {"groups", {1, 3, 4, 4}, stride(window(2, 3, 2, 3, 2), 2, 1)},
    {"dilation", {1, 4, 5, 3}, dilate(window(3, 2, 3, 2), 2, 3)},
};

// How weights are quantised where activations are.
enum class Weights { kPlain, kByChannel };

// The filter as XNNPACK has it -> as PyTorch has it.
Tensor& portable_filter(KernelCall& call, Tensor& filter, Tag tag, const WindowSpec& w) {
  const std::vector<int32_t> s = sizes_of(filter);
  if (tag == Tag::XNNDepthwiseConv2d) {  // [1, h, w, out] -> [out, 1, h, w]
    return compute(call, "aten::permute_copy.out", {s[3], s[0], s[1], s[2]}, filter,
                   call.ints({3, 0, 1, 2}));
  }
  Tensor& plain = to_nchw(call, filter);  // [groups * out, in, h, w]
  if (tag == Tag::XNNConv2d) return plain;
  // -> [groups * in, out, h, w]
  const auto groups = static_cast<int32_t>(w.groups);
  const auto out = static_cast<int32_t>(w.group_out);
  const auto in = static_cast<int32_t>(w.group_in);
  Tensor& split = compute(call, "aten::view_copy.out", {groups, out, in, s[1], s[2]}, plain,
                          call.ints({groups, out, in, s[1], s[2]}));
  Tensor& swapped = compute(call, "aten::permute_copy.out", {groups, in, out, s[1], s[2]}, split,
                            call.ints({0, 2, 1, 3, 4}));
  return compute(call, "aten::view_copy.out", {groups * in, out, s[1], s[2]}, swapped,
                 call.ints({groups * in, out, s[1], s[2]}));
}

Dims filter_dims(Tag tag, const WindowSpec& w) {
  if (tag == Tag::XNNDepthwiseConv2d) {
    return {1, w.kernel_height, w.kernel_width, w.groups * w.group_out};
  }
  return {w.groups * w.group_out, w.kernel_height, w.kernel_width, w.group_in};
}

Dims convolved(Tag tag, const Shape& shape) {
  const WindowSpec& w = shape.window;
  if (tag != Tag::XNNConvTranspose2d) return slid(shape.in, w, w.groups * w.group_out);
  const auto unslid = [](uint32_t extent, uint32_t stride, uint32_t kernel, uint32_t dilation,
                         uint32_t adjustment, uint32_t padding) {
    return (extent - 1) * stride + (kernel - 1) * dilation + 1 + adjustment - padding;
  };
  return {shape.in[0],
          unslid(shape.in[1], w.stride_height, w.kernel_height, w.dilation_height,
                 w.adjustment_height, w.top + w.bottom),
          unslid(shape.in[2], w.stride_width, w.kernel_width, w.dilation_width, w.adjustment_width,
                 w.left + w.right),
          w.groups * w.group_out};
}

// Portable transposed convolutions pad both sides equally, so a larger result is computed and cut.
Tensor& cut(KernelCall& call, Tensor& x, int64_t dim, uint32_t start, uint32_t count) {
  std::vector<int32_t> s = sizes_of(x);
  s[static_cast<size_t>(dim)] = static_cast<int32_t>(count);
  return compute(call, "aten::slice_copy.Tensor_out", s, x, dim, int64_t{start},
                 int64_t{start} + count, 1);
}

Tensor& portable_convolution(KernelCall& call, const std::vector<Tensor*>& operands, Tag tag,
                             const Shape& shape, std::optional<Bounds> bounds) {
  const WindowSpec& w = shape.window;
  const bool transposed = tag == Tag::XNNConvTranspose2d;
  Tensor* x = &to_nchw(call, *operands[0]);
  if (!transposed) x = &padded(call, *x, w, 0);
  Dims out = convolved(tag, shape);
  Dims whole = out;
  if (transposed) {
    whole[1] += w.top + w.bottom;
    whole[2] += w.left + w.right;
  }
  const EValue bias = operands.size() > 2 ? EValue(operands[2]) : KernelCall::none();
  Tensor* y = &compute(call, "aten::convolution.out", nchw(whole), *x,
                       portable_filter(call, *operands[1], tag, w), bias,
                       call.ints({w.stride_height, w.stride_width}), call.ints({0, 0}),
                       call.ints({w.dilation_height, w.dilation_width}), transposed,
                       call.ints({w.adjustment_height, w.adjustment_width}), int64_t{w.groups});
  if (transposed) y = &cut(call, cut(call, *y, 2, w.top, out[1]), 3, w.left, out[2]);
  y = &to_nhwc(call, *y);
  if (!bounds.has_value()) return *y;
  return compute(call, "aten::hardtanh.out", sizes_of(*y), *y, double{bounds->min},
                 double{bounds->max});
}

NodeCase convolution_case(const char* node, Tag tag, const Shape& shape, Type type, Weights weights,
                          bool has_bias, std::optional<Bounds> bounds) {
  NodeCase test;
  test.name = std::string(node) + " " + shape.name + " " + type_name(type) +
              (weights == Weights::kByChannel ? " by channel" : "") +
              (has_bias ? "" : " without bias") + (bounds.has_value() ? " with bounds" : "");
  test.tag = tag;
  test.type = type;
  const WindowSpec w = shape.window;
  Operand filter{filter_dims(tag, w), -1, 1, true};
  if (type == kFloat16) filter.type = kFloat32;  // as the lowering writes them
  if (weights == Weights::kByChannel) {
    filter.type = Type::xnn_datatype_qcint8;
    filter.channel_dim = tag == Tag::XNNDepthwiseConv2d ? 3 : 0;
  }
  Operand bias{{w.groups * w.group_out}, -1, 1, true};
  if (type == kFloat16) bias.type = kFloat32;
  bias.bias = true;
  test.operands = {{shape.in, -1, 1}, filter};
  if (has_bias) test.operands.push_back(bias);
  test.out_dims = convolved(tag, shape);
  test.build = [=](BlobBuilder& b, const std::vector<uint32_t>& in, uint32_t out) {
    b.convolution(tag, w, in[0], in[1], has_bias ? in[2] : kInvalidId, out, bounds);
  };
  test.reference = [=](KernelCall& call, const std::vector<Tensor*>& in) -> Tensor& {
    return portable_convolution(call, in, tag, shape, bounds);
  };
  // Sums of up to 120 products of numbers below 1; f16 sums may be kept in f16.
  test.tolerance = type == kFloat16 ? 2e-2f : 3e-5f;
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
        const auto add = [&](Weights weights, bool bias, std::optional<Bounds> bounds) {
          all.push_back(convolution_case(node.name, node.tag, shape, type, weights, bias, bounds));
        };
        add(Weights::kPlain, true, {});
        add(Weights::kPlain, false, Bounds{0, 0.75f});
        if (type == kInt8) add(Weights::kByChannel, true, {});
      }
    }
    NodeCase empty =
        convolution_case(node.name, node.tag, node.shapes[1], kFloat32, Weights::kPlain, true, {});
    empty.name += " empty";
    empty.batch = 0;
    all.push_back(empty);
    NodeCase fewer =
        convolution_case(node.name, node.tag, node.shapes[2], kFloat32, Weights::kPlain, true, {});
    fewer.name += " declared larger";
    fewer.operands[0].dims[0] = fewer.out_dims[0] = 3;
    fewer.batch = 1;
    Shape shape = node.shapes[2];
    shape.in[0] = 1;
    fewer.reference = [tag = node.tag, shape](KernelCall& call,
                                              const std::vector<Tensor*>& in) -> Tensor& {
      return portable_convolution(call, in, tag, shape, {});
    };
    all.push_back(fewer);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Convolutions, WindowNodes, testing::ValuesIn(convolution_cases()),
                         test_name);

const std::vector<Shape> kPools = {
    {"one element", {1, 1, 1, 1}, window(1, 1, 1, 1)},
    {"2x2", {2, 6, 4, 5}, stride(window(2, 2, 1, 1), 2, 2)},
    {"3x3 padded", {1, 7, 9, 17}, pad(window(3, 3, 1, 1), 1, 1, 1, 1)},
    {"3x3 stride 2", {1, 8, 8, 3}, stride(pad(window(3, 3, 1, 1), 1, 1, 1, 1), 2, 2)},
    {"asymmetric padding", {1, 5, 5, 2}, stride(pad(window(3, 2, 1, 1), 0, 1, 1, 0), 2, 1)},
    {"tall", {1, 9, 3, 4}, window(5, 1, 1, 1)},
};

std::vector<NodeCase> pooling_cases() {
  std::vector<NodeCase> all;
  const auto base = [](const char* name, Tag tag, const Shape& shape, Type type) {
    NodeCase test;
    test.name = std::string(name) + " " + shape.name + " " + type_name(type);
    test.tag = tag;
    test.type = type;
    test.operands = {{shape.in, -3, 3}};
    test.out_dims = slid(shape.in, shape.window, shape.in[3]);
    test.build = [=, w = shape.window](BlobBuilder& b, const std::vector<uint32_t>& in,
                                       uint32_t out) { b.pooling(tag, w, in[0], out); };
    return test;
  };
  std::vector<Shape> maxima = kPools;
  maxima.push_back({"dilation", {1, 9, 9, 3}, dilate(window(3, 2, 1, 1), 2, 3)});
  for (const Shape& shape : maxima) {
    for (const Type type : kTypes) {
      NodeCase test = base("MaxPooling2d", Tag::XNNMaxPooling2d, shape, type);
      test.moves_only = true;
      if (shape.window.kernel_height * shape.window.kernel_width == 1) {
        test.refusal = "xnodes[0] (MaxPooling2d): XNNPACK refuses it";  // it wants larger windows
      }
      test.reference = [shape](KernelCall& call, const std::vector<Tensor*>& in) -> Tensor& {
        const WindowSpec& w = shape.window;
        Tensor& x = padded(call, to_nchw(call, *in[0]), w, -INFINITY);
        const std::vector<int32_t> out = nchw(slid(shape.in, w, shape.in[3]));
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
      // Padding does not count: sums and counts are pooled apart.
      test.reference = [shape](KernelCall& call, const std::vector<Tensor*>& in) -> Tensor& {
        const WindowSpec& w = shape.window;
        const std::vector<int32_t> out = nchw(slid(shape.in, w, shape.in[3]));
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
    }
  }
  for (const Dims& in : {Dims{1, 1, 1, 1}, Dims{2, 5, 3, 19}, Dims{1, 7, 7, 33}}) {
    for (const Type type : kTypes) {
      for (const bool keep : {true, false}) {
        NodeCase test;
        test.name = "GlobalAvgPooling2d " + std::to_string(in[3]) + " " + type_name(type) +
                    (keep ? " keeping dims" : "");
        test.tag = Tag::XNNGlobalAvgPooling2d;
        test.type = type;
        test.operands = {{in, -3, 3}};
        test.out_dims = keep ? Dims{in[0], 1, 1, in[3]} : Dims{in[0], in[3]};
        test.build = [keep](BlobBuilder& b, const std::vector<uint32_t>& x, uint32_t out) {
          b.unary(Tag::XNNGlobalAvgPooling2d, x[0], out, keep ? 0x40 : 0);
        };
        test.reference = [keep, out = test.out_dims](KernelCall& call,
                                                     const std::vector<Tensor*>& x) -> Tensor& {
          return compute(call, "aten::mean.out", {out.begin(), out.end()}, *x[0], call.ints({1, 2}),
                         keep, KernelCall::none());
        };
        all.push_back(test);
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
        test.tag = Tag::XNNStaticResizeBilinear2D;
        test.type = type;
        test.operands = {{shape.in, -3, 3}};
        test.out_dims = {shape.in[0], shape.height, shape.width, shape.in[3]};
        test.keeps_scale = true;
        test.tolerance = type == kFloat16 ? 5e-3f : 1e-5f;  // three roundings of numbers up to 3
        test.build = [=](BlobBuilder& b, const std::vector<uint32_t>& x, uint32_t out) {
          b.resize(shape.height, shape.width, x[0], out, align ? 8 : 0);
        };
        test.reference = [=, out = test.out_dims](KernelCall& call,
                                                  const std::vector<Tensor*>& x) -> Tensor& {
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

// Two outputs; the second is the position of the maximum in its window.
TEST(Windows, ArgMaxPooling2d_AsPortable) {
  const Dims in = {2, 6, 6, 5};
  WindowSpec w = stride(window(2, 3, 1, 1), 2, 3);
  const Dims out = slid(in, w, in[3]);
  BlobBuilder b;
  const uint32_t x = b.input(in), y = b.output(out);
  const uint32_t where = b.output(out, Type::xnn_datatype_int32);
  b.argmax(w, x, y, where);
  const std::vector<std::byte> blob = b.build();
  auto loaded = XnnpackBackend().init({}, blob, {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();

  KernelCall call;
  std::vector<float> numbers(360);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7919 % 361);
  Tensor& input = call.make<float>({2, 6, 6, 5}, numbers);
  Tensor& values = call.make(ScalarType::kFloat, {2, 3, 2, 5});
  Tensor& places = call.make(ScalarType::kInt, {2, 3, 2, 5});
  EValue* arguments[] = {&call.value(input), &call.value(values), &call.value(places)};
  ASSERT_TRUE((*loaded)->execute({}, arguments).ok());

  Tensor& expected = call.make(ScalarType::kFloat, {2, 5, 3, 2});
  Tensor& flat = call.make(ScalarType::kLong, {2, 5, 3, 2});
  ASSERT_TRUE(succeeds(call.run("aten::max_pool2d_with_indices.out", to_nchw(call, input),
                                call.ints({2, 3}), call.ints({2, 3}), call.ints({0, 0}),
                                call.ints({1, 1}), false, expected, flat)));
  EXPECT_EQ(values_of<float>(values), values_of<float>(to_nhwc(call, expected)));
  for (int64_t n = 0, i = 0; n < 2; ++n) {
    for (int64_t row = 0; row < 3; ++row) {
      for (int64_t column = 0; column < 2; ++column) {
        for (int64_t channel = 0; channel < 5; ++channel, ++i) {
          const int64_t at = flat.data<int64_t>()[((n * 5 + channel) * 3 + row) * 2 + column];
          // XNNPACK counts a window's columns first.
          EXPECT_EQ(places.data<int32_t>()[i], (at % 6 - column * 3) * 2 + at / 6 - row * 2);
        }
      }
    }
  }
}

}  // namespace
}  // namespace vitrine::test
