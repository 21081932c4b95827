// Tests state that is not indexed by position, such as the state of convolutions and recurrent
// layers. A new text must not depend on the state after the previous text.
#include <gtest/gtest.h>

#include <cstring>

#include "examples/models/llama_decoder.h"
#include "examples/models/model_builder.h"
#include "llm/cache_operators.h"
#include "test/llm/lowered_models.h"
#include "test/support/corpus.h"
#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "vitrine/method_decoder.h"

namespace vitrine {
namespace {

using aot::ModelBuilder;
using aot::Node;
using Ids = std::vector<TokenId>;
using Floats = std::vector<float>;

constexpr int64_t kStateWords = 16;

aot::TensorData float_data(const Floats& values, std::vector<int64_t> sizes) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return aot::make_tensor_data(ScalarType::kFloat, std::move(sizes), std::move(bytes));
}

float state_start(size_t word) { return static_cast<float>(word * 3 % 7); }
float state_weight(size_t id, size_t word) {
  return static_cast<float>((id * 7 + word * 5) % 11) / 8;
}

// next state = weights of the id + state / 2. If `has_start` is true, the file has the initial
// state `state_start`. Otherwise, the initial state is 0.
aot::ExportedProgram recurrent_decoder(bool has_start) {
  ModelBuilder build("Decoder");
  Node* ids = build.input("ids", ScalarType::kLong, {1, 1});
  Node* position = build.input("position", ScalarType::kLong, {1});
  Floats weights;
  for (size_t i = 0; i < kStateWords * kStateWords; ++i)
    weights.push_back(state_weight(i / kStateWords, i % kStateWords));
  Floats start(kStateWords);
  for (size_t i = 0; has_start && i < kStateWords; ++i) start[i] = state_start(i);
  Node* table = build.parameter("table", float_data(weights, {kStateWords, kStateWords}));
  Node* state = build.buffer("state", float_data(start, {1, kStateWords}));
  Node* row =
      build.call("aten.select.int", {build.call("aten.embedding.default", {table, ids}), 1, 0});
  Node* next = build.call("aten.add.Tensor", {row, build.call("aten.mul.Tensor", {state, 0.5})});
  build.call("aten.copy_.default", {state, next});
  Node* nothing = build.call("aten.mul.Tensor", {position, 0});
  return build.finish({build.call("aten.add.Tensor", {next, nothing})});
}

Floats expected_logits(const Ids& text, bool has_start) {
  Floats state(kStateWords);
  for (size_t i = 0; has_start && i < kStateWords; ++i) state[i] = state_start(i);
  for (const TokenId id : text) {
    for (size_t i = 0; i < kStateWords; ++i)
      state[i] = state_weight(static_cast<size_t>(id), i) + state[i] / 2;
  }
  return state;
}

class NonPositionalState : public testing::Test {
 protected:
  void load(aot::Methods methods, bool share) {
    aot::EmitOptions options;
    options.constant_methods = {{"get_max_seq_len", {int64_t{64}}}};
    const auto bytes = test::lower_methods(std::move(methods), share, options);
    tools::write_file(folder_ / "model.pte", std::span(bytes));
    session_ =
        std::make_unique<tools::Session>(tools::SessionOptions{folder_ / "model.pte", {}, 1});
  }

  test::ScratchFolder folder_;
  std::unique_ptr<tools::Session> session_;
};

TEST_F(NonPositionalState, ResetsToInitialStateAtPositionZero) {
  for (const bool has_start : {false, true}) {
    aot::Methods methods;
    methods.emplace("forward", recurrent_decoder(has_start));
    load(std::move(methods), false);
    const auto method = session_->load_method("forward");
    MethodDecoder decoder(session_->program(), *method);
    for (const Ids& text : {Ids{3, 1, 12}, Ids{5}, Ids{5, 2}}) {
      Ids fed;
      for (const TokenId id : text) {
        const auto found = decoder.feed({&id, 1}, static_cast<int64_t>(fed.size()));
        fed.push_back(id);
        EXPECT_EQ(Floats(found.begin(), found.end()), expected_logits(fed, has_start));
      }
    }
  }
}

// A warm-up generates a text and then resets the generator.
TEST_F(NonPositionalState, GeneratorResetReproducesTheSameText) {
  aot::Methods methods;
  methods.emplace("forward", recurrent_decoder(true));
  load(std::move(methods), false);
  const auto method = session_->load_method("forward");
  MethodDecoder decoder(session_->program(), *method);
  TextGenerator generator(decoder, nullptr);
  const GenerateOptions options = {.max_new_tokens = 12, .sampling = {.temperature = 0}};
  const Ids cold = generator.generate(Ids{3, 1}, options).ids;
  Ids text = {3, 1};
  for (const TokenId id : cold) {
    const Floats logits = expected_logits(text, true);
    EXPECT_EQ(id, std::ranges::max_element(logits) - logits.begin());
    text.push_back(id);
  }
  generator.reset();
  EXPECT_EQ(generator.generate(Ids{3, 1}, options).ids, cold);
  EXPECT_NE(generator.generate(Ids{3, 1}, options).ids, cold)
      << "without a reset, the state continues";
}

TEST_F(NonPositionalState, IsNotReportedForPositionalCaches) {
  aot::Methods methods;
  methods.emplace("forward", recurrent_decoder(false));
  methods.emplace("with_cache", examples::llama_decoder({.length = 16, .group = 0}));
  load(std::move(methods), false);
  EXPECT_TRUE(keeps_other_state(*session_->program()->method_meta("forward")));
  EXPECT_FALSE(keeps_other_state(*session_->program()->method_meta("with_cache")));
  if (test::corpus_llm_dir().empty()) return;
  for (const auto& [model, is_kept] : {std::pair("kjv_f32", false),
                                       {"llama_qkv_8da4w", false},
                                       {"llama_prefill_decode_shared_kv", false},
                                       {"llama_kv_static", true},
                                       {"llama_ring_sliding", true}}) {
    const tools::Session session(
        tools::SessionOptions{test::corpus_llm_dir() / model / "model.pte", {}, 1});
    const Program& program = *session.program();
    EXPECT_EQ(keeps_other_state(*program.method_meta(program.method_name(0))), is_kept) << model;
  }
}

}  // namespace
}  // namespace vitrine
