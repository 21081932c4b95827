#include "bench/suite/op_cases.h"

#include <algorithm>
#include <array>
#include <vector>

#include "aot/builder/layers.h"

namespace vitrine::bench {
namespace {

using aot::Argument;
using aot::ModelBuilder;
using aot::Node;
namespace nn = aot::nn;

// A name as a template's argument.
template <size_t kSize>
struct Text {
  char characters[kSize];
  consteval Text(const char (&text)[kSize]) {  // NOLINT: from a literal
    std::copy_n(text, kSize, characters);
  }
};

Node* floats(ModelBuilder& build, const char* name, std::vector<int64_t> sizes) {
  return build.input(name, ScalarType::kFloat, {sizes.begin(), sizes.end()});
}
Argument two(int64_t value) { return std::vector<int64_t>{value, value}; }

// Elements in rows of 64.
Node* rows(ModelBuilder& build, int64_t size, const char* name = "x") {
  return floats(build, name, {size / 64, 64});
}
// Elements as an image of 16 channels.
Node* image(ModelBuilder& build, int64_t size) {
  int64_t side = 2;
  while (16 * 4 * side * side <= size) side *= 2;
  return floats(build, "x", {1, 16, side, side});
}

template <Text kOp>
Node* unary(ModelBuilder& build, int64_t size) {
  return build.call(kOp.characters, {rows(build, size)});
}
template <Text kOp>
Node* binary(ModelBuilder& build, int64_t size) {
  return build.call(kOp.characters, {rows(build, size, "x"), rows(build, size, "y")});
}

Node* conv(ModelBuilder& build, int64_t side, int64_t channels, const nn::ConvOptions& options) {
  return nn::conv2d(build, "conv", floats(build, "x", {1, channels, side, side}), channels,
                    options);
}
double cube(int64_t size) {
  const auto side = static_cast<double>(size);
  return side * side * side;
}
double square(int64_t size) { return static_cast<double>(size) * static_cast<double>(size); }

constexpr OpCase kCases[] = {
    {"abs.default", "", unary<"aten.abs.default">},
    {"ceil.default", "", unary<"aten.ceil.default">},
    {"cos.default", "", unary<"aten.cos.default">},
    {"exp.default", "", unary<"aten.exp.default">},
    {"floor.default", "", unary<"aten.floor.default">},
    {"hardswish.default", "", unary<"aten.hardswish.default">},
    {"log.default", "", unary<"aten.log.default">, nullptr, true},
    {"neg.default", "", unary<"aten.neg.default">},
    {"rsqrt.default", "", unary<"aten.rsqrt.default">, nullptr, true},
    {"sigmoid.default", "", unary<"aten.sigmoid.default">},
    {"sin.default", "", unary<"aten.sin.default">},
    {"sqrt.default", "", unary<"aten.sqrt.default">, nullptr, true},
    {"tanh.default", "", unary<"aten.tanh.default">},
    {"relu.default", "", unary<"aten.relu.default">},
    {"gelu.default", "", unary<"aten.gelu.default">},
    {"leaky_relu.default", "", unary<"aten.leaky_relu.default">},
    {"add.Tensor", "", binary<"aten.add.Tensor">},
    {"div.Tensor", "", binary<"aten.div.Tensor">, nullptr, true},
    {"maximum.default", "", binary<"aten.maximum.default">},
    {"minimum.default", "", binary<"aten.minimum.default">},
    {"mul.Tensor", "", binary<"aten.mul.Tensor">},
    {"sub.Tensor", "", binary<"aten.sub.Tensor">},
    {"clamp.default", "",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.clamp.default", {rows(b, n), -0.5, 0.5});
     }},
    {"hardtanh.default", "",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.hardtanh.default", {rows(b, n), 0.0, 6.0});
     }},
    {"pow.Tensor_Scalar", "",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.pow.Tensor_Scalar", {rows(b, n), 2});
     }},
    {"prelu.default", "",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.prelu.default", {image(b, n), b.parameter("slope", {16})});
     }},
    {"_softmax.default", "rows of 64",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.softmax.int", {rows(b, n), -1});
     }},
    {"avg_pool2d.default", "2x2",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.avg_pool2d.default",
                     {image(b, 4 * n), two(2), two(2), two(0), false, false});
     }},
    {"max_pool2d.default", "2x2",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.max_pool2d.default", {image(b, 4 * n), two(2), two(2)});
     }},
    {"mean.dim", "of an image",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.mean.dim",
                     {floats(b, "x", {1, n / 16, 4, 4}), std::vector<int64_t>{-1, -2}, true});
     }},
    {"upsample_bilinear2d.vec", "2x",
     [](ModelBuilder& b, int64_t n) {
       Node* x = image(b, n);
       const int64_t side = 2 * x->tensor()->sizes[2].value();
       return b.call("aten.upsample_bilinear2d.vec",
                     {x, std::vector<int64_t>{side, side}, false, Argument()});
     }},
    {"cat.default", "of two",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.cat.default",
                     {Argument::list({rows(b, n / 2, "x"), rows(b, n / 2, "y")}), 1});
     }},
    {"constant_pad_nd.default", "of rows",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.constant_pad_nd.default", {rows(b, n), std::vector<int64_t>{1, 1}, 0.0});
     }},
    {"permute_copy.default", "transposed",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.permute.default", {rows(b, n), std::vector<int64_t>{1, 0}});
     }},
    {"slice_copy.Tensor", "half of each row",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.slice.Tensor", {rows(b, 2 * n), 1, 16, 48});
     }},
    {"_native_batch_norm_legit_no_training.default", "",
     [](ModelBuilder& b, int64_t n) { return nn::batch_norm2d(b, "norm", image(b, n)); }},
    {"linear.default", "16 rows",
     [](ModelBuilder& b, int64_t n) {
       return nn::linear(b, "linear", floats(b, "x", {16, n}), n);
     },
     [](int64_t n) { return 16 * square(n); }},
    {"linear.default", "1 row",
     [](ModelBuilder& b, int64_t n) {
       return nn::linear(b, "linear", floats(b, "x", {1, n}), n);
     },
     square},
    {"mm.default", "square",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.mm.default", {floats(b, "x", {n, n}), b.parameter("weight", {n, n})});
     },
     cube},
    {"addmm.default", "square",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.addmm.default", {b.parameter("bias", {n}), floats(b, "x", {n, n}),
                                            b.parameter("weight", {n, n})});
     },
     cube},
    {"bmm.default", "4 squares",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.bmm.default", {floats(b, "x", {4, n, n}), floats(b, "y", {4, n, n})});
     },
     [](int64_t n) { return 4 * cube(n); }},
    {"convolution.default", "1x1, 64 channels",
     [](ModelBuilder& b, int64_t n) { return conv(b, n / 4, 64, {.kernel = 1}); },
     [](int64_t n) { return 64 * 64 * square(n / 4); }},
    {"convolution.default", "3x3, 32 channels",
     [](ModelBuilder& b, int64_t n) { return conv(b, n / 4, 32, {.kernel = 3, .padding = 1}); },
     [](int64_t n) { return 9 * 32 * 32 * square(n / 4); }},
    {"convolution.default", "depthwise 3x3, 64 channels",
     [](ModelBuilder& b, int64_t n) {
       return conv(b, n / 4, 64, {.kernel = 3, .padding = 1, .groups = 64});
     },
     [](int64_t n) { return 9 * 64 * square(n / 4); }},
};

constexpr std::array<int64_t, 5> kElements = {256, 4096, 65536, 1 << 20, 1 << 22};
constexpr std::array<int64_t, 3> kFewElements = {256, 16384, 1 << 20};
constexpr std::array<int64_t, 6> kLengths = {16, 32, 64, 128, 256, 512};
constexpr std::array<int64_t, 3> kFewLengths = {16, 64, 256};

}  // namespace

std::span<const OpCase> op_cases() { return kCases; }

std::span<const int64_t> op_sizes(const OpCase& op, bool is_full) {
  if (op.multiply_adds == nullptr) {
    return is_full ? std::span<const int64_t>(kElements) : std::span<const int64_t>(kFewElements);
  }
  return is_full ? std::span<const int64_t>(kLengths) : std::span<const int64_t>(kFewLengths);
}

}  // namespace vitrine::bench
