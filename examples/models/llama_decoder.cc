#include "examples/models/llama_decoder.h"

#include <cmath>
#include <cstring>
#include <string>

#include "examples/models/layers.h"
#include "examples/models/seeded_weights.h"

namespace vitrine::examples {
namespace {

using aot::Argument;
using aot::ArgumentList;
using aot::ModelBuilder;
using aot::Node;
using aot::SymInt;
using aot::TensorData;
using aot::TensorSpec;
namespace nn = aot::nn;

constexpr const char* kModule = "vitrine.examples.Llama";

class Llama {
 public:
  explicit Llama(const LlamaOptions& options) : o_(options), build_(kModule, options.seed) {}

  aot::ExportedProgram run() {
    count_ = build_.dynamic_size(1, o_.length - 1);
    Node* tokens = build_.input("tokens", ScalarType::kLong, {1, count_});
    Node* position = build_.input("input_pos", ScalarType::kLong, {1});
    read_position(tokens, position);
    Node* x = embedding(tokens);
    {
      const auto layers = build_.module("layers", "torch.nn.modules.container.ModuleList");
      for (int64_t i = 0; i < o_.layers; ++i) {
        const auto layer = build_.module(std::to_string(i), "vitrine.examples.LlamaLayer");
        const float factor = i + 1 == o_.layers ? o_.value_factor : 1;
        x = add(x, attention(rms_norm("attention_norm", x), factor));
        x = add(x, feed_forward(rms_norm("ffn_norm", x)));
      }
    }
    x = build_.call("aten.select.int", {x, 1, -1});
    return build_.finish({linear("output", rms_norm("norm", x), o_.words)});
  }

 private:
  int64_t width() const { return o_.features / o_.heads; }

  Node* add(Node* a, Node* b) { return build_.call("aten.add.Tensor", {a, b}); }
  Node* sub(Node* a, Node* b) { return build_.call("aten.sub.Tensor", {a, b}); }
  Node* mul(Node* a, Node* b) { return build_.call("aten.mul.Tensor", {a, b}); }
  Node* call_as(const char* target, ArgumentList args, TensorSpec spec) {
    return build_.call_as(target, std::move(args), {}, std::move(spec));
  }
  Node* number(const char* target, ArgumentList args, SymInt value) {
    aot::Value::Number number;
    number.value = std::move(value);
    return build_.call_as(target, std::move(args), {}, number);
  }

  // Reads the first token's position, and selects the rows of the rotary tables for all tokens.
  void read_position(Node* tokens, Node* position) {
    tokens_ = number("aten.sym_size.int", {tokens, 1}, count_);
    Node* first = build_.call("aten.select.int", {position, 0, 0});
    start_ = number("aten.item.default", {first}, build_.dynamic_size(0, o_.length - 1));
    const auto rope = build_.module("rope", "vitrine.examples.Rope");
    const auto rows = [&](const char* name, double (*function)(double)) {
      Node* table = build_.buffer(name, rotary_table(function));
      table = build_.call("aten.narrow.default", {table, 0, start_, tokens_});
      return view(table, {1, tokens_, 1, width() / 2});
    };
    cosines_ = rows("freqs_cos", [](double x) { return std::cos(x); });
    sines_ = rows("freqs_sin", [](double x) { return std::sin(x); });
  }
  TensorData rotary_table(double (*function)(double)) const {
    const int64_t half = width() / 2;
    std::vector<std::byte> bytes(static_cast<size_t>(o_.length * half) * sizeof(float));
    for (int64_t i = 0; i < o_.length * half; ++i) {
      const double share = static_cast<double>(i % half) / static_cast<double>(half);
      const int64_t position = i / half;
      const auto angle = static_cast<double>(position) * std::pow(10000.0, -share);
      const auto value = static_cast<float>(function(angle));
      std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof value, &value, sizeof value);
    }
    return aot::make_tensor_data(ScalarType::kFloat, {o_.length, half}, std::move(bytes));
  }

  Node* view(Node* x, ArgumentList sizes) {
    return build_.call("aten.view.default", {x, Argument::list(std::move(sizes))});
  }

  Node* rms_norm(const char* name, Node* x) {
    const auto module = build_.module(name, "torch.nn.modules.normalization.RMSNorm");
    Node* mean = build_.call("aten.mean.dim", {mul(x, x), std::vector<int64_t>{-1}, true});
    Node* factor =
        build_.call("aten.rsqrt.default", {build_.call("aten.add.Tensor", {mean, 1e-5})});
    const TensorData weight =
        aot::seeded_weights(build_.qualified("weight"), build_.seed(), {o_.features}, 0.1f, 1.0f);
    return mul(mul(x, factor), build_.parameter("weight", weight));
  }

  // Returns int4 weights, one per byte.
  TensorData four_bits(int64_t rows, int64_t columns) {
    const TensorData data =
        aot::seeded_bytes(build_.qualified("weight"), build_.seed(), {rows, columns});
    std::vector<std::byte> bytes(data.storage.begin(), data.storage.end());
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>((std::to_integer<int>(byte) & 15) - 8);
    }
    return aot::make_tensor_data(ScalarType::kChar, {rows, columns}, std::move(bytes));
  }
  // The scales of int4 groups make a layer's results about as large as its inputs.
  TensorData scales(int64_t rows, int64_t columns) {
    const float scale = 1 / (4.6f * std::sqrt(static_cast<float>(columns)));
    return aot::seeded_weights(build_.qualified("scales"), build_.seed(),
                               {rows, columns / o_.group}, 0.2f * scale, scale);
  }

  // Quantizes the activations of each token to int8 and dequantizes them.
  Node* in_bytes(Node* x) {
    const TensorSpec& spec = *x->tensor();
    const int64_t columns = spec.sizes.back().value();
    std::vector<int64_t> block(spec.rank(), 1);
    block.back() = columns;
    const std::vector<SymInt> tokens(spec.sizes.begin(), spec.sizes.end() - 1);
    aot::Value::Items chosen = {aot::contiguous_spec(ScalarType::kFloat, tokens),
                                aot::contiguous_spec(ScalarType::kChar, tokens)};
    Node* choice = build_.call_as("torchao.choose_qparams_affine.default",
                                  {x, "ASYMMETRIC", block, ScalarType::kChar, -128, 127, Argument(),
                                   ScalarType::kFloat, ScalarType::kChar},
                                  {}, std::move(chosen));
    Node* scale = build_.item(choice, 0);
    Node* zero_point = build_.item(choice, 1);
    Node* bytes = call_as("torchao.quantize_affine.default",
                          {x, block, scale, zero_point, ScalarType::kChar, -128, 127},
                          aot::contiguous_spec(ScalarType::kChar, spec.sizes));
    return call_as("torchao.dequantize_affine.default",
                   {bytes, block, scale, zero_point, ScalarType::kChar, -128, 127},
                   aot::contiguous_spec(ScalarType::kFloat, spec.sizes));
  }

  // Adds a linear layer. `factor` multiplies f32 weights and does not affect int4 weights.
  Node* linear(const char* name, Node* x, int64_t out, float factor = 1) {
    const auto module = build_.module(name, "torch.nn.modules.linear.Linear");
    const int64_t in = x->tensor()->sizes.back().value();
    if (o_.group == 0) {
      const float spread = factor / std::sqrt(static_cast<float>(in));
      const TensorData weight =
          aot::seeded_weights(build_.qualified("weight"), build_.seed(), {out, in}, spread);
      return build_.call("aten.linear.default", {x, build_.parameter("weight", weight)});
    }
    Node* weight = build_.buffer("weight", four_bits(out, in));
    Node* scale = build_.buffer("scales", scales(out, in));
    Node* zero_points = build_.buffer(
        "zero_points",
        aot::make_tensor_data(ScalarType::kChar, {out, in / o_.group},
                              std::vector<std::byte>(static_cast<size_t>(out * in / o_.group))));
    weight = call_as(
        "torchao.dequantize_affine.default",
        {weight, std::vector<int64_t>{1, o_.group}, scale, zero_points, ScalarType::kChar, -8, 7},
        aot::contiguous_spec(ScalarType::kFloat, {out, in}));
    return build_.call("aten.linear.default", {in_bytes(x), weight});
  }

  Node* embedding(Node* tokens) {
    if (o_.group == 0)
      return nn::embedding(build_, "tok_embeddings", tokens, o_.words, o_.features);
    const auto module = build_.module("tok_embeddings", "vitrine.examples.QuantizedEmbedding");
    TensorData bytes =
        aot::seeded_bytes(build_.qualified("weight"), build_.seed(), {o_.words, o_.features / 2});
    bytes.dtype = ScalarType::kByte;
    Node* weight = build_.buffer("weight", std::move(bytes));
    Node* scale = build_.buffer("scales", scales(o_.words, o_.features));
    return build_.call_as("quantized_decomposed.embedding_4bit.dtype",
                          {weight, scale, Argument(), -8, 7, tokens},
                          {{"dtype", ScalarType::kFloat}},
                          aot::contiguous_spec(ScalarType::kFloat, {1, count_, o_.features}));
  }

  // The rotary embedding rotates pairs of neighbors by angles that grow with the position.
  Node* rotate(Node* x, int64_t heads) {
    x = view(x, {1, tokens_, heads, width() / 2, 2});
    Node* parts = build_.call("aten.unbind.int", {x, -1});
    Node* a = build_.item(parts, 0);
    Node* b = build_.item(parts, 1);
    Node* turned =
        build_.call("aten.stack.default", {Argument::list({sub(mul(a, cosines_), mul(b, sines_)),
                                                           add(mul(a, sines_), mul(b, cosines_))}),
                                           -1});
    return build_.call("aten.flatten.using_ints", {turned, 3});
  }

  // Adds a cache with the dtype of `row`, writes `row` at the position, and returns the cache.
  Node* cached(const char* name, Node* row) {
    const ScalarType dtype = row->tensor()->dtype;
    const int64_t columns = row->tensor()->sizes.back().value();
    const auto count = static_cast<size_t>(o_.length * o_.key_heads * columns);
    Node* cache = build_.buffer(
        name, aot::make_tensor_data(dtype, {1, o_.length, o_.key_heads, columns},
                                    std::vector<std::byte>(count * element_size(dtype))));
    call_as("llama.update_cache.default", {row, cache, start_}, aot::contiguous_spec(dtype, {1}));
    return cache;
  }

  Node* converted(Node* x, ScalarType dtype) {
    if (x->tensor()->dtype == dtype) return x;
    return build_.call("aten.to.dtype", {x, dtype});
  }

  // A tensor quantized to int8, with a scale and a zero point for each token and head.
  struct Bytes {
    Node* numbers;
    Node* scales;
    Node* zero_points;
  };
  Bytes quantized(Node* x) {
    std::vector<SymInt> sizes = x->tensor()->sizes;
    sizes.back() = 1;
    aot::Value::Items chosen = {aot::contiguous_spec(ScalarType::kDouble, sizes),
                                aot::contiguous_spec(ScalarType::kLong, sizes)};
    Node* choice =
        build_.call_as("quantized_decomposed.choose_qparams_per_token_asymmetric.default",
                       {x, ScalarType::kChar}, {}, std::move(chosen));
    Node* scales = build_.item(choice, 0);
    Node* zero_points = build_.item(choice, 1);
    Node* numbers = call_as("quantized_decomposed.quantize_per_token.default",
                            {x, scales, zero_points, -128, 127, ScalarType::kChar},
                            aot::contiguous_spec(ScalarType::kChar, x->tensor()->sizes));
    return {numbers, converted(scales, ScalarType::kFloat),
            converted(zero_points, ScalarType::kChar)};
  }

  Node* attention_in_bytes(Node* query, Node* key, Node* value) {
    const TensorSpec result = *query->tensor();
    const Bytes q = quantized(query);
    Bytes k = quantized(key);
    Bytes v = quantized(value);
    k = {cached("k_cache", k.numbers), cached("k_cache_scales", k.scales),
         cached("k_cache_zero_points", k.zero_points)};
    v = {cached("v_cache", v.numbers), cached("v_cache_scales", v.scales),
         cached("v_cache_zero_points", v.zero_points)};
    return call_as("llama.custom_quantized_sdpa.default",
                   {q.numbers, k.numbers, v.numbers, start_, Argument(), 0.0, true, Argument(),
                    q.zero_points, q.scales, k.zero_points, k.scales, v.zero_points, v.scales},
                   result);
  }

  Node* attention_in_floats(Node* query, Node* key, Node* value) {
    query = converted(query, o_.cache);
    Node* keys = cached("k_cache", converted(key, o_.cache));
    Node* values = cached("v_cache", converted(value, o_.cache));
    Node* mixed = call_as("llama.custom_sdpa.default",
                          {query, keys, values, start_, Argument(), 0.0, true}, *query->tensor());
    return converted(mixed, ScalarType::kFloat);
  }

  Node* attention(Node* x, float value_factor) {
    const auto module = build_.module("attention", "vitrine.examples.LlamaAttention");
    const int64_t keys = o_.key_heads * width();
    Node* query = rotate(linear("wq", x, o_.features), o_.heads);
    Node* key = rotate(linear("wk", x, keys), o_.key_heads);
    Node* value = view(linear("wv", x, keys, value_factor), {1, tokens_, o_.key_heads, width()});
    Node* mixed = o_.cache == ScalarType::kChar ? attention_in_bytes(query, key, value)
                                                : attention_in_floats(query, key, value);
    return linear("wo", view(mixed, {1, tokens_, o_.features}), o_.features, 1 / value_factor);
  }

  Node* feed_forward(Node* x) {
    const auto module = build_.module("feed_forward", "vitrine.examples.LlamaFeedForward");
    Node* gate = linear("w1", x, o_.hidden);
    gate = mul(gate, build_.call("aten.sigmoid.default", {gate}));
    return linear("w2", mul(gate, linear("w3", x, o_.hidden)), o_.features);
  }

  const LlamaOptions o_;
  ModelBuilder build_;
  SymInt count_;
  Node* tokens_ = nullptr;
  Node* start_ = nullptr;
  Node* cosines_ = nullptr;
  Node* sines_ = nullptr;
};

}  // namespace

aot::ExportedProgram llama_decoder(const LlamaOptions& options) { return Llama(options).run(); }

}  // namespace vitrine::examples
