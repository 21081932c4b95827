#include "examples/models/transformer.h"

#include <cmath>
#include <limits>
#include <string>

#include "examples/models/layers.h"

namespace vitrine::examples {
namespace {

using aot::Argument;
using aot::ModelBuilder;
using aot::Node;
namespace nn = aot::nn;

constexpr const char* kAttention = "vitrine.examples.Attention";
constexpr const char* kMlp = "vitrine.examples.Mlp";

Node* add(ModelBuilder& build, Node* a, Node* b) { return build.call("aten.add.Tensor", {a, b}); }

Node* mlp(ModelBuilder& build, const TransformerOptions& options, Node* x) {
  const auto module = build.module("mlp", kMlp);
  x = nn::linear(build, "up", x, options.hidden);
  x = build.call("aten.gelu.default", {x});
  return nn::linear(build, "down", x, options.features);
}

// Splits heads: [N, T, features] -> [N, heads, T, features / heads].
Node* split_heads(ModelBuilder& build, const TransformerOptions& options, Node* x) {
  x = build.call("aten.unflatten.int",
                 {x, -1, std::vector<int64_t>{options.heads, options.features / options.heads}});
  return build.call("aten.transpose.int", {x, 1, 2});
}
Node* join_heads(ModelBuilder& build, Node* x) {
  x = build.call("aten.transpose.int", {x, 1, 2});
  return build.call("aten.flatten.using_ints", {x, 2});
}

struct Projections {
  Node* query;
  Node* key;
  Node* value;
};
Projections project(ModelBuilder& build, const TransformerOptions& options, Node* x) {
  Projections made{};
  made.query = split_heads(build, options, nn::linear(build, "query", x, options.features));
  made.key = split_heads(build, options, nn::linear(build, "key", x, options.features));
  made.value = split_heads(build, options, nn::linear(build, "value", x, options.features));
  return made;
}

Node* self_attention(ModelBuilder& build, const TransformerOptions& options, Node* x) {
  const auto module = build.module("attention", kAttention);
  const Projections of = project(build, options, x);
  Node* mixed =
      build.call("aten.scaled_dot_product_attention.default", {of.query, of.key, of.value});
  return nn::linear(build, "out", join_heads(build, mixed), options.features);
}

// Adds a buffer of zeros with the shape [1, heads, length, features / heads].
Node* cache(ModelBuilder& build, const TransformerOptions& options, const char* name) {
  const std::vector<int64_t> sizes = {1, options.heads, options.length,
                                      options.features / options.heads};
  const auto bytes = static_cast<size_t>(options.features * options.length) * sizeof(float);
  return build.buffer(
      name, aot::make_tensor_data(ScalarType::kFloat, sizes, std::vector<std::byte>(bytes)));
}

// Computes the attention of the token at `position`. Writes the token's key and value to the
// caches, and masks all later positions.
Node* cached_attention(ModelBuilder& build, const TransformerOptions& options, Node* x,
                       Node* position) {
  const auto module = build.module("attention", kAttention);
  const Projections of = project(build, options, x);
  const auto remember = [&](const char* name, Node* row) {
    const Argument indices = Argument::list({Argument(), Argument(), position});
    return build.call("aten.index_put_.default", {cache(build, options, name), indices, row});
  };
  Node* keys = remember("keys", of.key);
  Node* values = remember("values", of.value);
  Node* positions = build.call("aten.arange.default", {options.length});
  Node* future = build.call("aten.gt.Tensor", {positions, position});
  Node* scores = build.call("aten.matmul.default",
                            {of.query, build.call("aten.transpose.int", {keys, -2, -1})});
  const int64_t width = options.features / options.heads;
  scores = build.call("aten.div.Tensor", {scores, std::sqrt(static_cast<double>(width))});
  scores = build.call("aten.masked_fill.Scalar",
                      {scores, future, -std::numeric_limits<double>::infinity()});
  Node* weights = build.call("aten.softmax.int", {scores, -1});
  Node* mixed = build.call("aten.matmul.default", {weights, values});
  return nn::linear(build, "out", join_heads(build, mixed), options.features);
}

template <class Attention>
Node* layer(ModelBuilder& build, const TransformerOptions& options, int64_t index, Node* x,
            Attention attention) {
  const auto module = build.module(std::to_string(index), "vitrine.examples.Layer");
  x = add(build, x, attention(nn::layer_norm(build, "norm1", x)));
  return add(build, x, mlp(build, options, nn::layer_norm(build, "norm2", x)));
}

}  // namespace

Node* encoder_layers(ModelBuilder& build, const TransformerOptions& options, Node* x) {
  {
    const auto layers = build.module("layers", "torch.nn.modules.container.ModuleList");
    for (int64_t i = 0; i < options.layers; ++i) {
      x = layer(build, options, i, x, [&](Node* y) { return self_attention(build, options, y); });
    }
  }
  return nn::layer_norm(build, "norm", x);
}

aot::ExportedProgram transformer_encoder(const TransformerOptions& options) {
  ModelBuilder build("vitrine.examples.Encoder", options.seed);
  const aot::SymInt batch =
      options.dynamic_batch ? build.dynamic_size(1, options.batch) : aot::SymInt(options.batch);
  Node* tokens = build.input("tokens", ScalarType::kLong, {batch, options.length});
  Node* x = nn::embedding(build, "words", tokens, options.words, options.features);
  Node* positions = build.parameter("positions", {options.length, options.features});
  return build.finish({encoder_layers(build, options, add(build, x, positions))});
}

aot::ExportedProgram cached_decoder(const TransformerOptions& options) {
  ModelBuilder build("vitrine.examples.Decoder", options.seed);
  Node* token = build.input("token", ScalarType::kLong, {1, 1});
  Node* position = build.input("position", ScalarType::kLong, {1});
  Node* x = nn::embedding(build, "words", token, options.words, options.features);
  x = add(build, x, nn::embedding(build, "places", position, options.length, options.features));
  {
    const auto layers = build.module("layers", "torch.nn.modules.container.ModuleList");
    for (int64_t i = 0; i < options.layers; ++i) {
      x = layer(build, options, i, x,
                [&](Node* y) { return cached_attention(build, options, y, position); });
    }
  }
  x = nn::layer_norm(build, "norm", x);
  return build.finish({nn::linear(build, "head", x, options.words, false)});
}

}  // namespace vitrine::examples
