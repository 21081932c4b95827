// Tests MethodDecoder. On models of the corpus, its greedy ids must equal PyTorch's. It must also
// handle small programs whose metadata are missing, wrong or contradictory.
#include "vitrine/method_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "test/llm/lowered_models.h"
#include "test/support/corpus.h"
#include "test/support/program_builder.h"
#include "test/support/read_json.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"
#include "vitrine/data_source.h"

namespace vitrine {
namespace {

using nlohmann::json;
using test::MethodSpec;
using Ids = std::vector<TokenId>;

class TrainedModel : public testing::TestWithParam<const char*> {};

TEST_P(TrainedModel, GreedyTextMatchesPyTorch) {
  VITRINE_NEEDS_CORPUS_LLM();
  const auto folder = test::corpus_llm_dir() / GetParam();
  test::OneMethod model(folder / "model.pte", 0);
  EXPECT_THAT(model.decoder.notes(), testing::IsEmpty());
  const auto tokenizer = load_tokenizer(folder / "tokenizer.model");
  TextGenerator generator(model.decoder, tokenizer.get());
  for (const json& item : test::read_json(folder / "generate.json")) {
    const Ids ids = item.at("ids");
    generator.reset();
    std::string streamed;
    const Generation result =
        generator.generate(item.at("prompt").get<std::string>(),
                           {.max_new_tokens = static_cast<int64_t>(ids.size()),
                            .sampling = {.temperature = 0},
                            .encode = {.num_bos = 1},
                            .ignore_eos = true},
                           [&](const NewToken& token) { streamed += token.text; });
    EXPECT_EQ(result.prompt, item.at("prompt_ids").get<Ids>());
    EXPECT_EQ(result.ids, ids);
    EXPECT_EQ(result.text, item.at("continuation").get<std::string>());
    EXPECT_EQ(streamed, item.at("continuation").get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, TrainedModel, testing::Values("kjv_f32"),
                         [](const auto& model) { return std::string(model.param); });

// The test feeds PyTorch's tokens to the model. Quantized activations may change the model's logits
// by up to 0.3, the absolute tolerance of the case. The logit of PyTorch's next token must
// therefore be at most twice this tolerance below the largest logit. For at least 95 % of the
// tokens, this logit must be the largest.
TEST(QuantizedModel, TokensThatPyTorchGeneratesHaveNearlyTheLargestLogits) {
  VITRINE_NEEDS_CORPUS_LLM();
  const auto folder = test::corpus_llm_dir() / "kjv_8da4w";
  test::OneMethod model(folder / "model.pte", 0);
  size_t best = 0;
  size_t all = 0;
  for (const json& item : test::read_json(folder / "generate.json")) {
    Ids fed = item.at("prompt_ids").get<Ids>();
    int64_t position = 0;
    for (const TokenId next : item.at("ids").get<Ids>()) {
      const std::span<const float> logits = model.decoder.feed(fed, position);
      const float max_logit = *std::ranges::max_element(logits);
      const float found = logits[static_cast<size_t>(next)];
      EXPECT_GE(found, max_logit - 0.6F) << "at position " << position;
      best += found == max_logit ? 1 : 0;
      ++all;
      position += static_cast<int64_t>(fed.size());
      fed = {next};
    }
  }
  EXPECT_GE(best, all * 95 / 100) << "tokens in all: " << all;
}

// A model that returns logits for every token of a call, not only for the last one.
TEST(ChunkedModel, ChunkLogitsEqualSingleTokenLogits) {
  VITRINE_NEEDS_CORPUS_LLM();
  test::OneMethod model(test::corpus_llm_dir() / "hf_qwen3_custom_sdpa_8da4w/model.pte", 0);
  MethodDecoder& decoder = model.decoder;
  ASSERT_TRUE(decoder.info().returns_all_logits);
  const Ids ids = {5, 17, 60, 3};
  decoder.feed(ids, 0);
  std::vector<std::vector<float>> chunk;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::span<const float> logits = decoder.logits_after(i);
    chunk.emplace_back(logits.begin(), logits.end());
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::span<const float> logits = decoder.feed({&ids[i], 1}, static_cast<int64_t>(i));
    EXPECT_THAT(logits, testing::Pointwise(testing::FloatNear(1e-3F), chunk[i])) << i;
  }
}

// A method that returns constant logits for any input, plus metadata methods.
class SmallDecoder : public testing::Test {
 protected:
  struct Shape {
    std::vector<int32_t> ids = {1, 4};
    std::vector<int32_t> positions = {1};
    std::vector<int32_t> logits = {1, 6};
    ScalarType dtype = ScalarType::kFloat;
    bool dynamic = true;
    bool has_position = true;
  };

  void constant(const char* name, int64_t value) {
    MethodSpec& method = builder_.method(name);
    method.outputs = {method.integer(value)};
  }
  void flag(const char* name, bool value) {
    MethodSpec& method = builder_.method(name);
    method.outputs = {method.boolean(value)};
  }

  void forward(const Shape& shape) {
    using schema::program::TensorShapeDynamism;
    MethodSpec& method = builder_.method("forward");
    const auto dynamism =
        shape.dynamic ? TensorShapeDynamism::DYNAMIC_BOUND : TensorShapeDynamism::STATIC;
    method.inputs = {
        method.tensor({.dtype = ScalarType::kLong, .sizes = shape.ids, .dynamism = dynamism})};
    if (shape.has_position) {
      method.inputs.push_back(
          method.tensor({.dtype = ScalarType::kLong, .sizes = shape.positions}));
    }
    int32_t count = 1;
    for (const int32_t size : shape.logits) count *= size;
    std::vector<float> values;
    for (int32_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
    method.outputs = {method.tensor({.dtype = shape.dtype,
                                     .sizes = shape.logits,
                                     .data = builder_.constant(test::bytes_of(values))})};
  }

  std::unique_ptr<MethodDecoder> load(const MethodLimits& limits = {}) {
    file_ = builder_.build();
    program_ = test::require(Program::load(*view_buffer(file_)));
    method_ = test::require(Method::load(program_, "forward", {.limits = limits}));
    return std::make_unique<MethodDecoder>(program_, DecoderMethods{.decode = method_.get()},
                                           MethodDecoderOptions{.limits = limits});
  }

  std::string refusal(const MethodLimits& limits = {}) {
    return test::thrown<GenerationError>([&] { load(limits); });
  }

  test::ProgramBuilder builder_;
  test::AlignedBytes file_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Method> method_;
};

TEST_F(SmallDecoder, ReadsMetadata) {
  forward({});
  constant("get_max_seq_len", 5);
  constant("get_max_context_len", 9);
  constant("get_vocab_size", 6);
  flag("use_kv_cache", true);
  flag("enable_dynamic_shape", true);
  MethodSpec& ends = builder_.method("get_eos_ids");
  ends.outputs = {ends.integer(3), ends.integer(5)};
  const auto decoder = load();
  EXPECT_EQ(decoder->info().max_context, 9);
  EXPECT_EQ(decoder->info().max_tokens_per_call, 4) << "the number of ids that the input holds";
  EXPECT_TRUE(decoder->info().parallel_prefill);
  EXPECT_TRUE(decoder->info().has_cache);
  EXPECT_EQ(decoder->info().vocabulary, 6U);
  EXPECT_THAT(decoder->info().eos_ids, testing::ElementsAre(3, 5));
  EXPECT_THAT(decoder->notes(), testing::IsEmpty());
  EXPECT_THROW(decoder->feed(Ids(5, 1), 0), GenerationError);
  EXPECT_THROW(decoder->feed(Ids{}, 0), GenerationError);
  EXPECT_THROW(decoder->feed(Ids{1}, 9), GenerationError);
  EXPECT_THROW(decoder->feed(Ids{1}, -1), GenerationError);
  EXPECT_EQ(decoder->feed(Ids{1, 2}, 7).back(), 5.0F);
}

TEST_F(SmallDecoder, DerivesMissingMetadataFromTheInputShape) {
  forward({});
  const auto decoder = load();
  EXPECT_EQ(decoder->info().max_context, 4);
  EXPECT_TRUE(decoder->info().parallel_prefill) << "the input takes 1 to 4 ids";
  ASSERT_EQ(decoder->notes().size(), 1U);
  EXPECT_THAT(decoder->notes()[0], testing::HasSubstr("get_max_seq_len"));
  flag("enable_dynamic_shape", false);
  EXPECT_FALSE(load()->info().parallel_prefill);
}

TEST_F(SmallDecoder, ReturnsLogitsOfEachTokenOrOfTheLastToken) {
  forward({.logits = {1, 4, 6}});
  constant("get_max_seq_len", 5);
  const auto decoder = load();
  EXPECT_THROW(decoder->logits_after(0), GenerationError) << "nothing was fed";
  EXPECT_EQ(decoder->feed(Ids{1, 2, 3}, 0).front(), 12.0F);
  EXPECT_TRUE(decoder->info().returns_all_logits);
  EXPECT_EQ(decoder->logits_after(1).front(), 6.0F);
  EXPECT_EQ(decoder->logits_after(2).front(), 12.0F);
  EXPECT_THROW(decoder->logits_after(3), GenerationError);
}

TEST_F(SmallDecoder, ReturnsOnlyLastLogitsIfMethodReturnsOnePosition) {
  forward({});
  const auto decoder = load();
  decoder->feed(Ids{1, 2, 3}, 0);
  EXPECT_FALSE(decoder->info().returns_all_logits);
  EXPECT_EQ(decoder->logits_after(2).back(), 5.0F);
  EXPECT_THROW(decoder->logits_after(1), GenerationError);
}

TEST_F(SmallDecoder, PadsIdsToFixedShape) {
  forward({.logits = {1, 4, 6}, .dynamic = false, .has_position = false});
  constant("get_max_seq_len", 5);
  const auto decoder = load();
  EXPECT_FALSE(decoder->info().has_cache);
  EXPECT_EQ(decoder->feed(Ids{1, 2}, 0).front(), 6.0F);
}

// This input has no planned memory that would limit its size, so the decoder itself must check the
// size of the padded ids.
TEST_F(SmallDecoder, RejectsPaddedIdsBeyondMemoryLimit) {
  forward({.ids = {1, INT32_MAX}, .logits = {1, 4, 6}, .dynamic = false, .has_position = false});
  EXPECT_THAT(refusal({.max_memory_bytes = 1'000'000'000}),
              testing::HasSubstr("method forward: the 2147483647 ids of input 0 need 17179869176 "
                                 "bytes, more than max_memory_bytes allows"));
}

TEST_F(SmallDecoder, AppliesLimitsToMetadataMethods) {
  forward({});
  constant("get_max_seq_len", 5);
  builder_.methods.back().buffer_sizes = {0, 1'000'000};
  EXPECT_EQ(load()->info().max_context, 5);
  EXPECT_THAT(refusal({.max_memory_bytes = 900'000}),
              testing::HasSubstr("get_max_seq_len: no memory for planned memory"));
  EXPECT_THROW(MethodDecoder(program_, *method_), GenerationError) << "the limit of decode applies";
  MethodSpec& endless = builder_.methods.back();
  endless.jump_false(endless.boolean(false), 0);
  EXPECT_THAT(refusal({.max_instructions_per_run = 5}),
              testing::HasSubstr("stopped after 5 instructions"));
}

TEST_F(SmallDecoder, RejectsContradictoryMetadataAndShapes) {
  struct Case {
    const char* message;
    Shape shape = {};
    std::vector<std::pair<const char*, int64_t>> constants = {};
    bool has_cache = false;
  };
  const Case cases[] = {
      {"get_vocab_size returns 7, but the method returns 6 logits",
       {},
       {{"get_max_seq_len", 5}, {"get_vocab_size", 7}}},
      {"use_kv_cache is true, but the method has no position", {.has_position = false}, {}, true},
      {"get_max_context_len returns 4, less than get_max_seq_len (5)",
       {},
       {{"get_max_seq_len", 5}, {"get_max_context_len", 4}}},
      {"end id 6 is not in the vocabulary of 6", {}, {{"get_eos_ids", 6}}},
      {"get_max_seq_len: returned -5, expected a positive number", {}, {{"get_max_seq_len", -5}}},
      {"takes a batch of 2 rows of ids", {.ids = {2, 4}}},
      {"its only output must be logits", {.dtype = ScalarType::kInt}}};
  for (const Case& each : cases) {
    builder_ = {};
    forward(each.shape);
    for (const auto& [name, value] : each.constants) constant(name, value);
    if (each.has_cache) flag("use_kv_cache", true);
    EXPECT_THAT(refusal(), testing::HasSubstr(each.message));
  }
}

// Makes the method's output a tensor without memory.
void return_without_memory(MethodSpec& method) {
  test::TensorSpec nothing = method.values[static_cast<size_t>(method.outputs[0])].tensor;
  nothing.planned.reset();
  nothing.data = 0;
  method.move(method.tensor(nothing), method.outputs[0]);
}

TEST_F(SmallDecoder, RejectsLogitsWithoutMemory) {
  forward({});
  return_without_memory(builder_.methods.back());
  const auto decoder = load();
  EXPECT_EQ(test::thrown<GenerationError>([&] { decoder->feed(Ids(2, 1), 0); }),
            "method forward declares the output f32[1,6], but returned another type or no data");
}

TEST(HostileDecoder, RejectsEncoderAndEmbeddingOutputsWithoutMemory) {
  for (const bool is_encoder : {true, false}) {
    test::ProgramBuilder builder;
    const auto planned = [](ScalarType dtype, std::vector<int32_t> sizes, uint64_t offset) {
      return test::TensorSpec{
          .dtype = dtype, .sizes = std::move(sizes), .planned = test::Planned{1, offset}};
    };
    MethodSpec& encoder = builder.method("vision_encoder");
    encoder.inputs = {encoder.tensor(planned(ScalarType::kFloat, {1, 2, 6}, 0))};
    encoder.outputs = {encoder.tensor(planned(ScalarType::kFloat, {1, 2, 6}, 64))};
    MethodSpec& embedding = builder.method("token_embedding");
    embedding.inputs = {embedding.tensor(planned(ScalarType::kLong, {1, 1}, 0))};
    embedding.outputs = {embedding.tensor(planned(ScalarType::kFloat, {1, 1, 6}, 64))};
    MethodSpec& decode = builder.method("text_decoder");
    decode.inputs = {decode.tensor(planned(ScalarType::kFloat, {1, 1, 6}, 0)),
                     decode.tensor(planned(ScalarType::kLong, {1}, 64))};
    decode.outputs = {decode.tensor(planned(ScalarType::kFloat, {1, 6}, 128))};
    for (MethodSpec& method : builder.methods) method.buffer_sizes = {0, 256};
    return_without_memory(is_encoder ? encoder : embedding);
    const test::AlignedBytes file = builder.build();
    const std::shared_ptr<const Program> program = *Program::load(*view_buffer(file));
    const auto load = [&program](const char* name) {
      return *Method::load(program, name, {.accept_unwritten_outputs = true});
    };
    const auto encode = load("vision_encoder");
    const auto embed = load("token_embedding");
    const auto method = load("text_decoder");
    MethodDecoder decoder(
        program, {.decode = method.get(), .encoder = encode.get(), .embedding = embed.get()},
        {.row_id = 9});
    test::TensorFactory factory;
    decoder.encode(factory.make(ScalarType::kFloat, {1, 2, 6}));
    const Ids fed = decoder.with_rows(Ids{9});
    EXPECT_THAT([&] { decoder.feed(std::span(fed).first(1), 0); },
                testing::ThrowsMessage<GenerationError>(
                    is_encoder ? "method vision_encoder declares the output f32[1,2,6], but "
                                 "returned another type or no data"
                               : "method token_embedding declares the output f32[1,1,6], but "
                                 "returned another type or no data"));
  }
}

}  // namespace
}  // namespace vitrine
