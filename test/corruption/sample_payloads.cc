#include "test/corruption/sample_payloads.h"

#include <numeric>

#include "backends/xnnpack/runtime/reader/node_definition.h"

namespace vitrine::test {
namespace {

constexpr auto kInt8 = Type::xnn_datatype_qint8;
constexpr auto kDynamic = Type::xnn_datatype_qdint8;
constexpr auto kByChannel = Type::xnn_datatype_qcint8;

std::vector<float> ramp(size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}

PayloadBuilder unary_chain() {
  PayloadBuilder b;
  uint32_t x = b.input({2, 3});
  for (const Tag tag : {Tag::XNNSigmoid, Tag::XNNFloor, Tag::XNNSquareRoot, Tag::XNNCeiling,
                        Tag::XNNHardswish, Tag::XNNNegate, Tag::XNNSquare, Tag::XNNAbs,
                        Tag::XNNReciprocalSquareRoot, Tag::XNNLog, Tag::XNNGelu, Tag::XNNTanh,
                        Tag::XNNExp, Tag::XNNSin, Tag::XNNCos, Tag::XNNCopy, Tag::XNNSoftmax}) {
    const uint32_t y = b.internal({2, 3});
    b.unary(tag, x, y);
    x = y;
  }
  const uint32_t y = b.internal({2, 3}), z = b.internal({2, 3}), out = b.output({2, 3});
  b.leaky_relu(x, y, 0.1f);
  b.elu(y, z, 1);
  b.clamp(z, out, {-1, 1});
  return b;
}

PayloadBuilder binaries() {
  PayloadBuilder b;
  const uint32_t x = b.input({2, 3}), other = b.input({3});
  uint32_t sum = x;
  for (const Tag tag : {Tag::XNNAdd, Tag::XNNSubtract, Tag::XNNMultiply, Tag::XNNDiv,
                        Tag::XNNMinimum, Tag::XNNMaximum}) {
    const uint32_t y = b.internal({2, 3});
    b.binary(tag, sum, other, y, tag == Tag::XNNAdd ? std::optional(Bounds{0, 6}) : std::nullopt);
    sum = y;
  }
  const uint32_t out = b.output({2, 3});
  b.binary(Tag::XNNPReLU, sum, b.constant<float>({3}, {0.5f, 1, 2}), out);
  return b;
}

PayloadBuilder convolutions() {
  PayloadBuilder b;
  const uint32_t x = b.input({1, 4, 4, 2}), y = b.internal({1, 4, 4, 2});
  const uint32_t z = b.internal({1, 4, 4, 2}), out = b.output({1, 8, 8, 1});
  WindowSpec w;
  w.top = w.right = w.bottom = w.left = 1;
  w.kernel_height = w.kernel_width = 3;
  w.group_in = w.group_out = 2;
  b.convolution(Tag::XNNConv2d, w, x, b.constant({2, 3, 3, 2}, ramp(36)),
                b.constant<float>({2}, {1, 2}), y, Bounds{-1, 1});
  w.group_in = w.group_out = 1;
  w.groups = 2;
  b.convolution(Tag::XNNDepthwiseConv2d, w, y, b.constant({1, 3, 3, 2}, ramp(18)), kInvalidId, z);
  WindowSpec up;
  up.kernel_height = up.kernel_width = up.stride_height = up.stride_width = 2;
  up.group_in = 2;
  b.convolution(Tag::XNNConvTranspose2d, up, z, b.constant({1, 2, 2, 2}, ramp(8)),
                b.constant<float>({1}, {1}), out);
  return b;
}

PayloadBuilder poolings() {
  PayloadBuilder b(PayloadBuilder::Constants::kInFlatbuffer);
  const uint32_t x = b.input({1, 4, 4, 3});
  const uint32_t y = b.internal({1, 2, 2, 3}), z = b.internal({1, 2, 2, 3});
  const uint32_t big = b.internal({1, 4, 6, 3}), mean = b.output({1, 1, 1, 3});
  const uint32_t best = b.output({1, 2, 2, 3});
  const uint32_t place = b.output({1, 2, 2, 3}, Type::xnn_datatype_int32);
  WindowSpec w;
  w.kernel_height = w.kernel_width = w.stride_height = w.stride_width = 2;
  b.pooling(Tag::XNNMaxPooling2d, w, x, y);
  WindowSpec same;
  same.kernel_height = same.kernel_width = 3;
  same.top = same.right = same.bottom = same.left = 1;
  b.pooling(Tag::XNNAvgPooling2d, same, y, z);
  b.resize(4, 6, z, big);
  b.unary(Tag::XNNGlobalAvgPooling2d, big, mean, 0x40);
  b.argmax(w, x, best, place);
  return b;
}

PayloadBuilder layouts() {
  PayloadBuilder b(PayloadBuilder::Constants::kInFlatbuffer);
  const uint32_t x = b.input({2, 3, 4});
  const uint32_t t = b.internal({4, 2, 3}), r = b.internal({4, 6}), s = b.internal({2, 4});
  const uint32_t p = b.internal({3, 4}), c2 = b.internal({3, 8}), c3 = b.internal({9, 4});
  const uint32_t c4 = b.output({12, 4}), c5 = b.output({3, 20});
  const uint32_t more = b.output({3, 8}), most = b.output({9, 4});
  b.transpose({2, 0, 1}, x, t);
  b.reshape({0, 6}, t, r);
  b.slice({1, 2}, {2, 4}, r, s);
  b.pad({0, 0}, {1, 0}, 2, s, p);
  b.concatenate(Tag::XNNConcatenate2, 1, {p, p}, c2);
  b.concatenate(Tag::XNNConcatenate3, 0, {p, p, p}, c3);
  b.concatenate(Tag::XNNConcatenate4, 0, {p, p, p, p}, c4);
  b.concatenate(Tag::XNNConcatenate5, 1, {p, p, p, p, p}, c5);
  b.unary(Tag::XNNAbs, c2, more);
  b.unary(Tag::XNNAbs, c3, most);
  return b;
}

PayloadBuilder matrices() {
  PayloadBuilder b;
  const uint32_t x = b.input({2, 2, 4}), w = b.input({2, 4, 3});
  const uint32_t product = b.internal({2, 2, 3}), out = b.output({2, 2, 2});
  b.binary(Tag::XNNBatchMatrixMultiply, x, w, product);
  b.fully_connected(product, b.constant({3, 2}, ramp(6)), b.constant<float>({2}, {1, 2}), out,
                    /*flags=*/1, Bounds{0, 100});
  return b;
}

PayloadBuilder attention() {
  PayloadBuilder b;
  const uint32_t q = b.input({2, 3, 4}), k = b.input({2, 5, 4}), v = b.input({2, 5, 3});
  const uint32_t mask = b.input({3, 5}), out = b.output({2, 3, 3});
  b.attention({q, k, v, b.constant<float>({4}, {1, 2, 3, 4}), mask}, out);
  return b;
}

uint32_t by_channel(PayloadBuilder& b, std::vector<uint32_t> dims, int32_t channel_dim) {
  size_t count = 1;
  for (const uint32_t dim : dims) count *= dim;
  const auto channels = dims[static_cast<size_t>(channel_dim)];
  const uint32_t id =
      b.constant<int8_t>(std::move(dims), std::vector<int8_t>(count, 3), kByChannel);
  b.values[id].per_channel = PerChannel{{}, channel_dim};
  b.values[id].scale_constant = b.add_constant(std::vector<float>(channels, 0.5f));
  b.values[id].scale_count = channels;
  return id;
}

PayloadBuilder static_quantization() {
  PayloadBuilder b;
  const PerTensor quant{0.5f, 1};
  const uint32_t x = b.input({1, 3, 3, 2}), q = b.internal({1, 3, 3, 2}, kInt8, quant);
  const uint32_t y = b.internal({1, 3, 3, 4}, kInt8, quant);
  const uint32_t flat = b.internal({1, 36}, kInt8, quant), z = b.internal({1, 5}, kInt8, quant);
  const uint32_t sum = b.internal({1, 5}, kInt8, quant), out = b.output({1, 5});
  WindowSpec w;
  w.group_in = 2;
  w.group_out = 4;
  b.unary(Tag::XNNConvert, x, q);
  b.convolution(Tag::XNNConv2d, w, q, by_channel(b, {4, 1, 1, 2}, 0), kInvalidId, y);
  b.reshape({1, 36}, y, flat);
  b.fully_connected(
      flat, b.constant<int8_t>({5, 36}, std::vector<int8_t>(180, 2), kInt8, PerTensor{0.25f, 0}),
      b.constant<int32_t>({5}, {1, 2, 3, 4, 5}, Type::xnn_datatype_qint32, PerTensor{0.125f, 0}),
      z);
  b.binary(Tag::XNNAdd, z, z, sum, Bounds{0, 6});
  b.unary(Tag::XNNConvert, sum, out);
  return b;
}

PayloadBuilder dynamic_quantization() {
  PayloadBuilder b;
  const uint32_t x = b.input({3, 8}), q = b.internal({3, 8}, kDynamic), y = b.output({3, 4});
  b.values[q].nonbatch_dims = 1;
  b.unary(Tag::XNNConvert, x, q);
  b.fully_connected(q, by_channel(b, {4, 8}, 0), b.constant<float>({4}, {1, 2, 3, 4}), y);
  return b;
}

PayloadBuilder halves() {
  PayloadBuilder b;
  const auto f16 = Type::xnn_datatype_fp16;
  const uint32_t x = b.input({1, 3, 3, 2}, f16), y = b.internal({1, 3, 3, 3}, f16);
  const uint32_t z = b.output({1, 3, 3, 3});
  WindowSpec w;
  w.group_in = 2;
  w.group_out = 3;
  b.convolution(Tag::XNNConv2d, w, x, b.constant({3, 1, 1, 2}, ramp(6)), kInvalidId, y);
  b.unary(Tag::XNNConvert, y, z);
  return b;
}

PayloadBuilder brain_floats() {
  PayloadBuilder b;
  const auto bf16 = Type::xnn_datatype_bf16;
  const uint32_t x = b.input({2, 3}, bf16), y = b.internal({2, 3}, bf16);
  const uint32_t z = b.internal({2, 3}, bf16), out = b.output({2, 3});
  b.unary(Tag::XNNSigmoid, x, y);
  b.binary(Tag::XNNMultiply, x, y, z);
  b.unary(Tag::XNNConvert, z, out);
  return b;
}

}  // namespace

std::vector<SamplePayload> sample_payloads() {
  std::vector<SamplePayload> samples = {{"unary", unary_chain()},
                                        {"binary", binaries()},
                                        {"convolution", convolutions()},
                                        {"pooling", poolings()},
                                        {"layout", layouts()},
                                        {"matrix", matrices()},
                                        {"static_quantization", static_quantization()},
                                        {"dynamic_quantization", dynamic_quantization()},
                                        {"half", halves()},
                                        {"brain", brain_floats()}};
  if (xnnpack::optional_nodes().attention) samples.push_back({"attention", attention()});
  return samples;
}

}  // namespace vitrine::test
