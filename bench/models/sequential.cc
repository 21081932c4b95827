// Models of sequences, and products of quantised numbers.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "aot/builder/layers.h"
#include "aot/builder/seeded_weights.h"
#include "bench/models/zoo.h"

namespace vitrine::bench {
namespace {

using aot::Argument;
using aot::ModelBuilder;
using aot::Node;
namespace nn = aot::nn;

Node* sum(ModelBuilder& build, Node* a, Node* b) { return build.call("aten.add.Tensor", {a, b}); }
Node* product(ModelBuilder& build, Node* a, Node* b) {
  return build.call("aten.mul.Tensor", {a, b});
}

Node* heads_of(ModelBuilder& build, const char* name, Node* x, int64_t heads) {
  const int64_t features = x->tensor()->sizes.back().value();
  x = nn::linear(build, name, x, features);
  x = build.call("aten.unflatten.int", {x, -1, std::vector<int64_t>{heads, features / heads}});
  return build.call("aten.transpose.int", {x, 1, 2});
}

Node* attention(ModelBuilder& build, Node* x, int64_t heads) {
  const auto module = build.module("attention", "torch.nn.modules.activation.MultiheadAttention");
  const int64_t features = x->tensor()->sizes.back().value();
  Node* query = heads_of(build, "query", x, heads);
  Node* key = heads_of(build, "key", x, heads);
  Node* value = heads_of(build, "value", x, heads);
  Node* mixed = build.call("aten.scaled_dot_product_attention.default", {query, key, value});
  mixed = build.call("aten.transpose.int", {mixed, 1, 2});
  return nn::linear(build, "out", build.call("aten.flatten.using_ints", {mixed, 2}), features);
}

// A step of an LSTM: the gates are in the order input, forget, cell, output.
struct LstmState {
  Node* hidden;
  Node* cell;
};
LstmState lstm_step(ModelBuilder& build, Node* x, const LstmState& state, int64_t size) {
  Node* gates = sum(build, nn::linear(build, "input", x, 4 * size),
                    nn::linear(build, "recurrent", state.hidden, 4 * size));
  const auto gate = [&](int64_t i, const char* op) {
    return build.call(op, {build.call("aten.slice.Tensor", {gates, 1, i * size, (i + 1) * size})});
  };
  Node* kept = product(build, gate(1, "aten.sigmoid.default"), state.cell);
  Node* added = product(build, gate(0, "aten.sigmoid.default"), gate(2, "aten.tanh.default"));
  Node* cell = sum(build, kept, added);
  return {product(build, gate(3, "aten.sigmoid.default"), build.call("aten.tanh.default", {cell})),
          cell};
}

aot::TensorData constant(float value, int64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count) * sizeof value);
  for (size_t i = 0; i < bytes.size(); i += sizeof value) {
    std::memcpy(bytes.data() + i, &value, sizeof value);
  }
  return aot::make_tensor_data(ScalarType::kFloat, {count}, std::move(bytes));
}

// As PyTorch's pt2e flow writes it: activations quantised by their own range at each run.
Node* dynamic_linear(ModelBuilder& build, const char* name, Node* x, int64_t out) {
  const auto module = build.module(name, "torch.nn.modules.linear.Linear");
  const int64_t in = x->tensor()->sizes.back().value();
  Node* range =
      build.call("quantized_decomposed.choose_qparams.tensor",
                 {x, -128, 127, double{std::numeric_limits<float>::epsilon()}, ScalarType::kChar});
  Node* scale = build.item(range, 0);
  Node* zero_point = build.item(range, 1);
  x = build.call("quantized_decomposed.quantize_per_tensor.tensor",
                 {x, scale, zero_point, -128, 127, ScalarType::kChar});
  x = build.call("quantized_decomposed.dequantize_per_tensor.tensor",
                 {x, scale, zero_point, -128, 127, ScalarType::kChar});
  Node* weight =
      build.buffer("weight", aot::seeded_bytes(build.qualified("weight"), build.seed(), {out, in}));
  Node* scales =
      build.buffer("scales", constant(std::sqrt(3.0F / static_cast<float>(in)) / 127, out));
  std::vector<std::byte> zeros(static_cast<size_t>(out) * sizeof(int64_t));
  Node* zero_points = build.buffer(
      "zero_points", aot::make_tensor_data(ScalarType::kLong, {out}, std::move(zeros)));
  weight = build.call("quantized_decomposed.dequantize_per_channel.default",
                      {weight, scales, zero_points, 0, -127, 127, ScalarType::kChar});
  Node* bias = build.parameter(
      "bias", aot::seeded_weights(build.qualified("bias"), build.seed(), {out}, 0.1F));
  return build.call("aten.linear.default", {x, weight, bias});
}

}  // namespace

aot::ExportedProgram vit_blocks() {
  constexpr int64_t kFeatures = 192;
  ModelBuilder build("vitrine.bench.VitBlocks");
  Node* x = build.input("x", ScalarType::kFloat, {1, 197, kFeatures});
  for (int i = 0; i < 4; ++i) {
    const auto module = build.module(std::to_string(i), "vitrine.bench.Block");
    x = sum(build, x, attention(build, nn::layer_norm(build, "norm1", x), 3));
    Node* y = nn::linear(build, "up", nn::layer_norm(build, "norm2", x), 4 * kFeatures);
    y = build.call("aten.gelu.default", {y});
    x = sum(build, x, nn::linear(build, "down", y, kFeatures));
  }
  return build.finish({nn::layer_norm(build, "norm", x)});
}

aot::ExportedProgram lstm() {
  constexpr int64_t kSize = 128;
  ModelBuilder build("vitrine.bench.Lstm");
  Node* x = build.input("x", ScalarType::kFloat, {1, 16, 64});
  const auto zeros = [&](const char* name) {
    return build.buffer(name, aot::make_tensor_data(ScalarType::kFloat, {1, kSize},
                                                    std::vector<std::byte>(kSize * sizeof(float))));
  };
  LstmState state{zeros("hidden"), zeros("cell")};
  for (int64_t i = 0; i < 16; ++i) {
    state = lstm_step(build, build.call("aten.select.int", {x, 1, i}), state, kSize);
  }
  return build.finish({state.hidden});
}

aot::ExportedProgram dynamic_mlp() {
  ModelBuilder build("vitrine.bench.DynamicMlp");
  Node* x = build.input("x", ScalarType::kFloat, {1, 256});
  x = build.call("aten.relu.default", {dynamic_linear(build, "up", x, 512)});
  return build.finish({dynamic_linear(build, "down", x, 64)});
}

}  // namespace vitrine::bench
