#include <vector>

#include "bench/models/zoo.h"
#include "examples/models/layers.h"
#include "examples/models/transformer.h"

namespace vitrine::bench {
namespace {

using aot::ModelBuilder;
using aot::Node;
namespace nn = aot::nn;

Node* sum(ModelBuilder& build, Node* a, Node* b) { return build.call("aten.add.Tensor", {a, b}); }
Node* product(ModelBuilder& build, Node* a, Node* b) {
  return build.call("aten.mul.Tensor", {a, b});
}

// The state of an LSTM. The gates have the order input, forget, cell, output.
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

}  // namespace

aot::ExportedProgram vit_blocks() {
  ModelBuilder build("vitrine.bench.VitBlocks");
  Node* x = build.input("x", ScalarType::kFloat, {1, 197, 192});
  return build.finish({examples::encoder_layers(
      build, {.layers = 4, .features = 192, .heads = 3, .hidden = 768}, x)});
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

}  // namespace vitrine::bench
