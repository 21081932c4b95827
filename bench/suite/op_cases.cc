#include "bench/suite/op_cases.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "examples/models/layers.h"

namespace vitrine::bench {
namespace {

using aot::Argument;
using aot::ModelBuilder;
using aot::Node;
namespace nn = aot::nn;

// A string literal that can be a template argument.
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
Argument one(int64_t value) { return std::vector<int64_t>{value}; }

// Adds an input of `size` elements in rows of 64.
Node* rows(ModelBuilder& build, int64_t size, const char* name = "x") {
  return floats(build, name, {size / 64, 64});
}
// Adds a buffer of scattered indices into a table with `rows` rows.
Node* row_indices(ModelBuilder& build, std::vector<int64_t> sizes, int64_t rows) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  std::vector<std::byte> bytes(static_cast<size_t>(count) * sizeof(int64_t));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = i * 7919 % rows;
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof index, &index, sizeof index);
  }
  return build.buffer("indices",
                      aot::make_tensor_data(ScalarType::kLong, std::move(sizes), std::move(bytes)));
}
// Calls a binary operator 1000 times in a chain. The second operand `other` has `size` elements or
// one element.
template <Text kOp, bool kOneElement = false>
Node* chain(ModelBuilder& build, int64_t size) {
  Node* x = floats(build, "x", {1, size});
  Node* other = floats(build, "y", {1, kOneElement ? 1 : size});
  for (int i = 0; i < 1000; ++i) x = build.call(kOp.characters, {x, other});
  return x;
}
// Adds an input image with 16 channels and about `size` elements.
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

template <Text kOp>
Node* binary_with_row(ModelBuilder& build, int64_t size) {
  return build.call(kOp.characters, {rows(build, size, "x"), floats(build, "y", {64})});
}
// Reduces rows (dimension 1) or columns (dimension 0) of 64 elements.
template <Text kOp, int64_t kDim>
Node* reduction(ModelBuilder& build, int64_t size) {
  Node* x = kDim == 1 ? rows(build, size) : floats(build, "x", {64, size / 64});
  return build.call(kOp.characters, {x, one(kDim), false});
}

Node* conv(ModelBuilder& build, int64_t side, int64_t in, int64_t out,
           const nn::ConvOptions& options, bool channels_last = false) {
  Node* x = floats(build, "x", {1, in, side, side});
  if (channels_last) {
    aot::TensorSpec spec = *x->tensor();
    spec.strides = aot::dense_strides(spec.sizes, {0, 2, 3, 1});
    x->meta.value = std::move(spec);
  }
  return nn::conv2d(build, "conv", x, out, options);
}

// Sizes for attention. The batch has an element for each layer of a model with 12 layers, so that
// keys and values exceed the processor's caches as in a whole model.
constexpr int64_t kLayers = 12;
constexpr int64_t kHeads = 12;
constexpr int64_t kKeyHeads = 4;
constexpr int64_t kWidth = 64;

// Calls attention with `keys` positions. The queries are at the last `tokens` positions.
template <ScalarType kDtype>
Node* attention(ModelBuilder& build, int64_t tokens, int64_t keys) {
  const auto input = [&](const char* name, ScalarType dtype, int64_t count, int64_t heads,
                         int64_t width) {
    return build.input(name, dtype, {kLayers, count, heads, width});
  };
  aot::ArgumentList arguments = {input("query", kDtype, tokens, kHeads, kWidth),
                                 input("key", kDtype, keys, kKeyHeads, kWidth),
                                 input("value", kDtype, keys, kKeyHeads, kWidth),
                                 keys - tokens,
                                 Argument(),
                                 0.0,
                                 true};
  const auto result = aot::contiguous_spec(kDtype, {kLayers, tokens, kHeads, kWidth});
  if (kDtype != ScalarType::kChar) {
    return build.call_as("llama.custom_sdpa.default", std::move(arguments), {}, result);
  }
  arguments.emplace_back();  // the scale
  const auto add = [&](const char* zero_points, const char* scales, int64_t count, int64_t heads) {
    arguments.emplace_back(input(zero_points, ScalarType::kChar, count, heads, 1));
    arguments.emplace_back(input(scales, ScalarType::kFloat, count, heads, 1));
  };
  add("query_zero_points", "query_scales", tokens, kHeads);
  add("key_zero_points", "key_scales", keys, kKeyHeads);
  add("value_zero_points", "value_scales", keys, kKeyHeads);
  return build.call_as("llama.custom_quantized_sdpa.default", std::move(arguments), {},
                       aot::contiguous_spec(ScalarType::kFloat, result.sizes));
}
template <ScalarType kDtype>
Node* decode_step(ModelBuilder& build, int64_t size) {
  return attention<kDtype>(build, 1, 4 * size);
}
template <ScalarType kDtype>
Node* prompt(ModelBuilder& build, int64_t size) {
  return attention<kDtype>(build, size, size);
}
// The next two functions count multiply-adds of queries with keys and of attention weights with
// values.
double decode_step_products(int64_t size) {
  return 2.0 * kLayers * kHeads * kWidth * 4 * static_cast<double>(size);
}
double prompt_products(int64_t size) {
  return kLayers * kHeads * kWidth * static_cast<double>(size) * static_cast<double>(size + 1);
}
double cube(int64_t size) {
  const auto side = static_cast<double>(size);
  return side * side * side;
}
double square(int64_t size) { return static_cast<double>(size) * static_cast<double>(size); }

constexpr std::array<int64_t, 1> kOneElement = {1};
constexpr std::array<int64_t, 3> kCallSizes = {1, 16, 256};
constexpr std::array<int64_t, 3> kRowLengths = {1, 4, 16};
constexpr std::array<int64_t, 3> kTokens = {16, 64, 256};

constexpr OpCase kCases[] = {
    {"abs.default", "", unary<"aten.abs.default">},
    {.op = "abs.default",
     .what = "one element",  // bench/page.py reads the cost of a call from this case
     .build =
         [](ModelBuilder& b, int64_t n) {
           return b.call("aten.abs.default", {floats(b, "x", {1, n})});
         },
     .sizes = kOneElement},
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
    {"lt.Tensor", "", binary<"aten.lt.Tensor">},
    {"add.Tensor", "and a row", binary_with_row<"aten.add.Tensor">},
    {"mul.Tensor", "and a row", binary_with_row<"aten.mul.Tensor">},
    {.op = "add.Tensor",
     .what = "1000 calls",
     .build = chain<"aten.add.Tensor">,
     .sizes = kCallSizes},
    {.op = "maximum.default",
     .what = "1000 calls, one element",
     .build = chain<"aten.maximum.default", true>,
     .sizes = kCallSizes},
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
    {.op = "_softmax.default",
     .what = "attention of 8 heads",
     .build =
         [](ModelBuilder& b, int64_t n) {
           return b.call("aten.softmax.int", {floats(b, "x", {1, 8, n, n}), -1});
         },
     .sizes = kTokens},
    {.op = "_softmax.default",
     .what = "64 short rows",
     .build =
         [](ModelBuilder& b, int64_t n) {
           return b.call("aten.softmax.int", {floats(b, "x", {64, n}), -1});
         },
     .sizes = kRowLengths},
    {"_log_softmax.default", "rows of 64",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.log_softmax.int", {rows(b, n), -1});
     }},
    {"native_layer_norm.default", "rows of 64",
     [](ModelBuilder& b, int64_t n) { return nn::layer_norm(b, "norm", rows(b, n)); }},
    {"native_group_norm.default", "4 groups",
     [](ModelBuilder& b, int64_t n) {
       Node* x = image(b, n);
       return b.call_as("aten.group_norm.default", {x, 4}, {}, *x->tensor());
     }},
    {"sum.dim_IntList", "of rows", reduction<"aten.sum.dim_IntList", 1>},
    {"sum.dim_IntList", "of columns", reduction<"aten.sum.dim_IntList", 0>},
    {"amax.default", "of rows", reduction<"aten.amax.default", 1>},
    {"amax.default", "of columns", reduction<"aten.amax.default", 0>},
    {"var.correction", "of rows", reduction<"aten.var.dim", 1>},
    {"argmax.default", "of rows",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.argmax.default", {rows(b, n), 1});
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
    {"max_pool2d.default", "3x3, stride 2",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.max_pool2d.default", {image(b, 4 * n), two(3), two(2), two(1)});
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
    {"upsample_nearest2d.vec", "2x",
     [](ModelBuilder& b, int64_t n) {
       Node* x = image(b, n);
       const int64_t side = 2 * x->tensor()->sizes[2].value();
       return b.call("aten.upsample_nearest2d.vec", {x, two(side), Argument()});
     }},
    {"embedding.default", "rows of 64",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.embedding.default", {rows(b, n), row_indices(b, {n / 64}, n / 64)});
     }},
    {"index.Tensor", "rows of 64",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.index.Tensor",
                     {rows(b, n), Argument::list({row_indices(b, {n / 64}, n / 64)})});
     }},
    {"index_put.default", "rows of 64",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.index_put.default",
                     {rows(b, 2 * n), Argument::list({row_indices(b, {n / 64}, n / 32)}),
                      rows(b, n, "values")});
     }},
    {"gather.default", "from rows of 64",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.gather.default", {rows(b, n), 1, row_indices(b, {n / 64, 64}, 64)});
     }},
    {"quantize_per_tensor.default", "to int8",
     [](ModelBuilder& b, int64_t n) {
       Node* x = rows(b, n);
       return b.call_as("quantized_decomposed.quantize_per_tensor.default",
                        {x, 0.02, 3, -128, 127, ScalarType::kChar}, {},
                        aot::contiguous_spec(ScalarType::kChar, x->tensor()->sizes));
     }},
    {"dequantize_per_tensor.default", "from int8",
     [](ModelBuilder& b, int64_t n) {
       Node* x = b.input("x", ScalarType::kChar, {n / 64, 64});
       return b.call_as("quantized_decomposed.dequantize_per_tensor.default",
                        {x, 0.02, 3, -128, 127, ScalarType::kChar}, {},
                        aot::contiguous_spec(ScalarType::kFloat, x->tensor()->sizes));
     }},
    {"_clone_dim_order.default", "to channels last",
     [](ModelBuilder& b, int64_t n) {
       return b.call("aten.clone.default", {image(b, n)},
                     {{"memory_format", aot::MemoryFormat::kChannelsLast}});
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
    {"linear.default", "4 rows",
     [](ModelBuilder& b, int64_t n) {
       return nn::linear(b, "linear", floats(b, "x", {4, n}), n);
     },
     [](int64_t n) { return 4 * square(n); }},
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
     [](ModelBuilder& b, int64_t n) { return conv(b, n / 4, 64, 64, {.kernel = 1}); },
     [](int64_t n) { return 64 * 64 * square(n / 4); }},
    {"convolution.default", "3x3, 32 channels",
     [](ModelBuilder& b, int64_t n) { return conv(b, n / 4, 32, 32, {.padding = 1}); },
     [](int64_t n) { return 9 * 32 * 32 * square(n / 4); }},
    {"convolution.default", "3x3, 32 channels last",
     [](ModelBuilder& b, int64_t n) { return conv(b, n / 4, 32, 32, {.padding = 1}, true); },
     [](int64_t n) { return 9 * 32 * 32 * square(n / 4); }},
    {"convolution.default", "3x3, stride 2, 3 to 32 channels",
     [](ModelBuilder& b, int64_t n) { return conv(b, n / 2, 3, 32, {.stride = 2, .padding = 1}); },
     [](int64_t n) { return 9 * 3 * 32 * square(n / 4); }},
    {"convolution.default", "1x1, 16 to 96 channels",
     [](ModelBuilder& b, int64_t n) { return conv(b, n / 4, 16, 96, {.kernel = 1}); },
     [](int64_t n) { return 16 * 96 * square(n / 4); }},
    {"convolution.default", "1x1, 320 to 1280 channels",
     [](ModelBuilder& b, int64_t n) { return conv(b, n / 16, 320, 1280, {.kernel = 1}); },
     [](int64_t n) { return 320 * 1280 * square(n / 16); }},
    {"convolution.default", "depthwise 3x3, 64 channels",
     [](ModelBuilder& b, int64_t n) {
       return conv(b, n / 4, 64, 64, {.padding = 1, .groups = 64});
     },
     [](int64_t n) { return 9 * 64 * square(n / 4); }},
    {"convolution.default", "depthwise 3x3, stride 2, 64 channels",
     [](ModelBuilder& b, int64_t n) {
       return conv(b, n / 2, 64, 64, {.stride = 2, .padding = 1, .groups = 64});
     },
     [](int64_t n) { return 9 * 64 * square(n / 4); }},
    {"convolution.default", "depthwise 7x7, 64 channels",
     [](ModelBuilder& b, int64_t n) {
       return conv(b, n / 4, 64, 64, {.kernel = 7, .padding = 3, .groups = 64});
     },
     [](int64_t n) { return 49 * 64 * square(n / 4); }},
    {"convolution.default", "3x3, 16 to 3 channels",
     [](ModelBuilder& b, int64_t n) { return conv(b, n / 4, 16, 3, {.padding = 1}); },
     [](int64_t n) { return 9 * 16 * 3 * square(n / 4); }},
    {"convolution.default", "depthwise 3x3, 64 channels last",
     [](ModelBuilder& b, int64_t n) {
       return conv(b, n / 4, 64, 64, {.padding = 1, .groups = 64}, true);
     },
     [](int64_t n) { return 9 * 64 * square(n / 4); }},
    {"custom_sdpa.default", "a token, f32", decode_step<ScalarType::kFloat>, decode_step_products},
    {"custom_sdpa.default", "a token, f16", decode_step<ScalarType::kHalf>, decode_step_products},
    {"custom_sdpa.default", "a token, bf16", decode_step<ScalarType::kBFloat16>,
     decode_step_products},
    {"custom_quantized_sdpa.default", "a token", decode_step<ScalarType::kChar>,
     decode_step_products},
    {"custom_sdpa.default", "a prompt, f32", prompt<ScalarType::kFloat>, prompt_products},
    {"custom_quantized_sdpa.default", "a prompt", prompt<ScalarType::kChar>, prompt_products},
};

constexpr std::array<int64_t, 5> kElements = {256, 4096, 65536, 1 << 20, 1 << 22};
constexpr std::array<int64_t, 3> kFewElements = {256, 16384, 1 << 20};
constexpr std::array<int64_t, 6> kLengths = {16, 32, 64, 128, 256, 512};
constexpr std::array<int64_t, 3> kFewLengths = {16, 64, 256};

}  // namespace

std::span<const OpCase> op_cases() { return kCases; }

std::span<const int64_t> op_sizes(const OpCase& op, bool is_full) {
  if (!op.sizes.empty()) return op.sizes;
  if (op.multiply_adds == nullptr) {
    return is_full ? std::span<const int64_t>(kElements) : std::span<const int64_t>(kFewElements);
  }
  return is_full ? std::span<const int64_t>(kLengths) : std::span<const int64_t>(kFewLengths);
}

}  // namespace vitrine::bench
