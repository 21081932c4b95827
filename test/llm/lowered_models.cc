#include "test/llm/lowered_models.h"

#include <cstring>

#include "aot/pipeline/lower.h"
#include "examples/models/model_builder.h"
#include "test/support/results.h"
#include "vitrine/data_source.h"

namespace vitrine::test {
namespace {

using aot::ModelBuilder;
using aot::Node;

aot::TensorData table(int64_t rows, int64_t columns,
                      const std::function<float(int64_t, int64_t)>& value) {
  std::vector<std::byte> bytes(static_cast<size_t>(rows * columns) * sizeof(float));
  for (int64_t i = 0; i < rows * columns; ++i) {
    const float x = value(i / columns, i % columns);
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof x, &x, sizeof x);
  }
  return aot::make_tensor_data(ScalarType::kFloat, {rows, columns}, std::move(bytes));
}

aot::ExportedProgram seen_words_encoder(int64_t words, int64_t length) {
  ModelBuilder build("Encoder");
  Node* ids = build.input("ids", ScalarType::kLong, {1, build.dynamic_size(1, length)});
  Node* ones = build.parameter(
      "ones", table(words, words, [](int64_t i, int64_t k) { return i == k ? 1.0F : 0.0F; }));
  return build.finish({build.call("aten.embedding.default", {ones, ids})});
}

aot::ExportedProgram seen_words_decoder(int64_t words, int64_t length, int64_t end) {
  ModelBuilder build("Decoder");
  Node* ids = build.input("ids", ScalarType::kLong, {1, 1});
  Node* encoded =
      build.input("encoded", ScalarType::kFloat, {1, build.dynamic_size(1, length), words});
  Node* position = build.input("position", ScalarType::kLong, {1});
  Node* nearness = build.parameter("nearness", table(words, words, [&](int64_t id, int64_t next) {
                                     return static_cast<float>((id - next + words) % words);
                                   }));
  Node* ends = build.parameter("ends", table(length, words, [&](int64_t at, int64_t id) {
                                 return at >= end && id == 0 ? 1000.0F : 0.0F;
                               }));
  Node* seen = build.call("aten.amax.default", {encoded, std::vector<int64_t>{1}});
  Node* near =
      build.call("aten.select.int", {build.call("aten.embedding.default", {nearness, ids}), 1, 0});
  Node* scores = build.call("aten.mul.Tensor", {near, seen});
  return build.finish({build.call(
      "aten.add.Tensor", {scores, build.call("aten.embedding.default", {ends, position})})});
}

}  // namespace

AlignedBytes lower_methods(aot::Methods methods, bool share_buffers,
                           const aot::EmitOptions& options) {
  aot::LowerOptions lowering;
  lowering.emit = options;
  lowering.emit.memory_planning.share_mutable_buffers = share_buffers;
  const std::vector<std::byte> bytes = aot::lower(std::move(methods), lowering).emitted.pte;
  return {bytes.begin(), bytes.end()};
}

AlignedBytes lower_method(aot::ExportedProgram forward, const aot::EmitOptions& options) {
  aot::Methods methods;
  methods.emplace("forward", std::move(forward));
  return lower_methods(std::move(methods), false, options);
}

std::shared_ptr<const Program> load_program(const AlignedBytes& file) {
  return require(Program::load(*view_buffer(file)));
}

aot::Methods seen_words_model(int64_t words, int64_t length, int64_t end) {
  aot::Methods methods;
  methods.emplace("encoder", seen_words_encoder(words, length));
  methods.emplace("text_decoder", seen_words_decoder(words, length, end));
  return methods;
}

}  // namespace vitrine::test
