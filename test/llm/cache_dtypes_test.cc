// Tests models whose caches are f16, bf16 or int8 instead of f32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "aot/pipeline/lower.h"
#include "examples/models/llama_decoder.h"
#include "examples/models/model_builder.h"
#include "llm/cache_operators.h"
#include "test/llm/lowered_models.h"
#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/support/results.h"
#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "tools/llm_runner/profile/method_bytes.h"
#include "vitrine/array.h"
#include "vitrine/half.h"
#include "vitrine/method_decoder.h"

namespace vitrine {
namespace {

using Floats = std::vector<float>;
using Ids = std::vector<TokenId>;
using aot::ModelBuilder;
using aot::Node;
using test::OneMethod;

class CacheDtypes : public testing::Test {
 protected:
  std::unique_ptr<OneMethod> load(ScalarType cache) {
    const auto bytes =
        test::lower_method(examples::llama_decoder({.length = 16, .group = 0, .cache = cache}));
    const auto file = folder_ / (std::string(scalar_type_name(cache)) + ".pte");
    tools::write_file(file, std::span(bytes));
    return std::make_unique<OneMethod>(file);
  }
  test::ScratchFolder folder_;
};

TEST(CacheLength, RejectsMetadataWithAContextLongerThanTheCache) {
  const test::ScratchFolder folder;
  const auto refusal = [&](int64_t context) -> std::string {
    aot::EmitOptions options;
    options.constant_methods = {{"get_max_seq_len", {context}}};
    const auto bytes =
        test::lower_method(examples::llama_decoder({.length = 16, .group = 0}), options);
    tools::write_file(folder / "model.pte", std::span(bytes));
    return test::thrown<GenerationError>([&] { const OneMethod loaded(folder / "model.pte"); });
  };
  EXPECT_EQ(refusal(16), "");
  EXPECT_THAT(refusal(17),
              testing::HasSubstr("get_max_seq_len returns 17, but the cache has 16 positions"));
}

// The logits differ from the logits with an f32 cache only by the rounding of keys, values and
// attention weights. The tokens are the same unless two logits are almost equal.
TEST_F(CacheDtypes, LogitsMatchF32WithinTolerance) {
  const auto exact = load(ScalarType::kFloat);
  for (const auto& [dtype, tolerance] :
       {std::pair(ScalarType::kHalf, 4e-3F), std::pair(ScalarType::kBFloat16, 3e-2F),
        std::pair(ScalarType::kChar, 3e-2F)}) {
    SCOPED_TRACE(scalar_type_name(dtype));
    const auto half = load(dtype);
    TextGenerator generator(half->decoder, nullptr);
    const Ids prompt = {3, 200, 17, 88, 5};
    const Ids answer =
        generator.generate(prompt, {.max_new_tokens = 8, .sampling = {.temperature = 0}}).ids;
    ASSERT_EQ(answer.size(), 8U);
    // Both models get the same tokens: the prompt at once, then one token per call.
    Ids fed = prompt;
    int64_t position = 0;
    bool differs = false;
    for (const TokenId next : answer) {
      const auto expected = exact->decoder.feed(fed, position);
      const auto found = half->decoder.feed(fed, position);
      ASSERT_EQ(found.size(), expected.size());
      float max_logit = expected[0];
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], tolerance);
        differs = differs || found[i] != expected[i];
        max_logit = std::max(max_logit, expected[i]);
      }
      EXPECT_GE(expected[static_cast<size_t>(next)], max_logit - 2 * tolerance);
      position += static_cast<int64_t>(fed.size());
      fed = {next};
    }
    EXPECT_TRUE(differs) << "a narrow cache must round";
  }
}

// In the last layer, the cached values are multiplied by a power of two, and the attention's output
// is divided by it, so the logits with an f32 cache do not change. Some cached values exceed 65504,
// the largest f16. An int8 cache can store these values, because each of its rows has a scale.
TEST_F(CacheDtypes, LargeValuesOverflowAnF16CacheButNotAnInt8Cache) {
  const auto logits = [&](ScalarType cache, float factor) {
    const auto bytes = test::lower_method(
        examples::llama_decoder({.group = 0, .cache = cache, .value_factor = factor}));
    tools::write_file(folder_ / "model.pte", std::span(bytes));
    OneMethod model(folder_ / "model.pte");
    Ids ids(40);
    std::iota(ids.begin(), ids.end(), 101);
    const auto found = model.decoder.feed(ids, 0);
    return std::vector<float>(found.begin(), found.end());
  };
  constexpr float kFactor = 1 << 15;
  const std::vector<float> exact = logits(ScalarType::kFloat, 1);
  EXPECT_EQ(logits(ScalarType::kFloat, kFactor), exact);
  EXPECT_THAT(logits(ScalarType::kChar, kFactor),
              testing::Pointwise(testing::FloatNear(3e-2F), exact));
  EXPECT_THAT(logits(ScalarType::kHalf, 1), testing::Pointwise(testing::FloatNear(4e-3F), exact));
  EXPECT_THAT(logits(ScalarType::kHalf, kFactor), testing::Contains(testing::IsNan()));
}

// The model has two layers, with keys and values of shape [1, 16, 2, 16].
TEST_F(CacheDtypes, CacheBytesDependOnTheDtype) {
  for (const ScalarType dtype : {ScalarType::kFloat, ScalarType::kHalf, ScalarType::kBFloat16}) {
    const auto model = load(dtype);
    const MethodMeta meta = *model->session.program()->method_meta("forward");
    const auto bytes = llm::read_method_bytes(*model->session.program(), std::span(&meta, 1));
    ASSERT_EQ(bytes.size(), 1U);
    ASSERT_EQ(bytes[0].caches.size(), 4U);
    const size_t element = dtype == ScalarType::kFloat ? 4 : 2;
    for (const llm::CacheBuffer& cache : bytes[0].caches) {
      EXPECT_EQ(cache.type, std::string(scalar_type_name(dtype)) + "[1,16,2,16]");
      EXPECT_EQ(cache.bytes, 16 * 2 * 16 * element);
    }
    double per_position = 0;
    for (const auto& [at, kernel] : bytes[0].kernels) {
      if (kernel.is_attention) per_position += kernel.cache_per_position;
    }
    EXPECT_EQ(per_position, static_cast<double>(2 * 2 * 2 * 16 * element))
        << "both layers together";
  }
}

// Tests programs that ExecuTorch exported. Some have an f16 or int8 cache, and one has a ring
// buffer for a sliding window. One program takes a position for each token.
class CorpusCaches : public testing::TestWithParam<const char*> {};

TEST_P(CorpusCaches, LogitsMatchPyTorch) {
  VITRINE_NEEDS_CORPUS_LLM();
  const auto folder = test::corpus_llm_dir() / GetParam();
  const auto numbers = [&](const std::string& file, const std::string& dtype) {
    const std::vector<std::byte> bytes = tools::read_file(folder / file);
    std::vector<double> values;
    const auto read = [&]<class T>(T value) {
      for (size_t at = 0; at + sizeof value <= bytes.size(); at += sizeof value) {
        std::memcpy(&value, bytes.data() + at, sizeof value);
        values.push_back(static_cast<double>(value));
      }
    };
    if (dtype == "int64") {
      read(int64_t{});
    } else if (dtype == "float16") {
      read(Half{});
    } else {
      read(float{});
    }
    return values;
  };
  const nlohmann::json which = test::read_json(folder / "case.json");
  const double rtol = which.at("tolerance").at("rtol");
  const double atol = which.at("tolerance").at("atol");
  OneMethod model(folder / "model.pte");
  for (const nlohmann::json& call : which.at("calls")) {
    const auto values_of = [&](const nlohmann::json& tensor) {
      return numbers(tensor.at("file"), tensor.at("dtype"));
    };
    const std::vector<double> given = values_of(call.at("inputs").at(0));
    const Ids ids(given.begin(), given.end());
    const double position = values_of(call.at("inputs").at(1)).at(0);
    const auto logits = model.decoder.feed(ids, static_cast<int64_t>(position));
    const std::vector<double> expected = values_of(call.at("outputs").at(0));
    ASSERT_GE(expected.size(), logits.size());
    const size_t last = expected.size() - logits.size();  // index of the last token's logits
    for (size_t i = 0; i < logits.size(); ++i) {
      EXPECT_NEAR(logits[i], expected[last + i], atol + rtol * std::abs(expected[last + i]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, CorpusCaches,
                         testing::Values("llama_f16_custom_sdpa", "llama_qkv_8da4w",
                                         "llama_ring_sliding", "hf_qwen3_custom_sdpa_8da4w"),
                         [](const auto& test) { return std::string(test.param); });

// Tests a cache that two methods share: one writes it with llama::update_cache, and the other only
// reads it.

constexpr int64_t kHeads = 2;
constexpr int64_t kLength = 5;
constexpr int64_t kWidth = 3;

void set(Method& method, size_t index, Array array) {
  ASSERT_TRUE(method.set_input(index, EValue(&array.mutable_tensor())).ok());
}

Node* cache_of(ModelBuilder& build) {
  return build.buffer("cache",
                      aot::make_tensor_data(ScalarType::kFloat, {1, kHeads, kLength, kWidth},
                                            std::vector<std::byte>(kHeads * kLength * kWidth * 4)));
}

aot::Methods methods() {
  aot::Methods made;
  ModelBuilder write("Write");
  Node* row = write.input("row", ScalarType::kFloat, {1, kHeads, 1, kWidth});
  Node* at = write.input("position", ScalarType::kLong, {1});
  write.call("aten.index_copy_.default", {cache_of(write), 2, at, row});
  made.emplace("write", write.finish({write.call("aten.mul.Tensor", {row, 1})}));
  ModelBuilder read("Read");
  Node* factor = read.input("factor", ScalarType::kFloat, {1});
  made.emplace("read", read.finish({read.call("aten.mul.Tensor", {cache_of(read), factor})}));
  return made;
}

TEST(SharedCaches, ReadMethodSeesRowsThatTheWriteMethodStored) {
  aot::LowerOptions options;
  options.attention = aot::AttentionOperator::kCustomSdpa;
  options.emit.memory_planning.share_mutable_buffers = true;
  const std::vector<std::byte> bytes = aot::lower(methods(), options).emitted.pte;
  const test::ScratchFolder folder;
  tools::write_file(folder / "model.pte", std::span(bytes));
  tools::Session session({folder / "model.pte", {}, 1});
  const auto write = session.load_method("write");
  const auto read = session.load_method("read");

  std::array<float, kHeads * kWidth> row{};
  std::iota(row.begin(), row.end(), 1.0F);
  const int64_t position = 3;
  const float factor = 2;
  const Array rows = *Array::copy_of<float>(row, {1, 2, 1, 3});
  const Array positions = *Array::copy_of<int64_t>({&position, 1}, {1});
  const Array factors = *Array::copy_of<float>({&factor, 1}, {1});
  set(*write, 0, rows);
  set(*write, 1, positions);
  set(*read, 0, factors);
  ASSERT_TRUE(write->execute().ok());
  ASSERT_TRUE(read->execute().ok());

  const Tensor& seen = read->output(read->num_outputs() - 1).unchecked_tensor();
  ASSERT_EQ(seen.numel(), kHeads * kLength * kWidth);
  for (int64_t head = 0; head < kHeads; ++head) {
    for (int64_t at = 0; at < kLength; ++at) {
      for (int64_t i = 0; i < kWidth; ++i) {
        const auto index = static_cast<size_t>((head * kLength + at) * kWidth + i);
        const float expected = at == position ? 2 * row[static_cast<size_t>(head * kWidth + i)] : 0;
        EXPECT_EQ(seen.data<float>()[index], expected) << head << ", " << at << ", " << i;
      }
    }
  }
}

// Tests state that is not indexed by position, such as the state of convolutions and recurrent
// layers. A new text must not depend on the state after the previous text.

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

// Returns a model. In each step, it halves the state and then adds the current id's row of weights.
// The initial state has the values of state_start() if `has_start` is true, and zeros otherwise.
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
  void load(aot::Methods methods) {
    aot::EmitOptions options;
    options.constant_methods = {{"get_max_seq_len", {int64_t{64}}}};
    const auto bytes = test::lower_methods(std::move(methods), false, options);
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
    load(std::move(methods));
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
  load(std::move(methods));
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
  load(std::move(methods));
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
