// Tests programs with several methods: prefill and decode over one cache, LoRA, a decoder with an
// encoder, a decoder with an embedding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "examples/models/llama_decoder.h"
#include "test/llm/lowered_models.h"
#include "test/support/corpus.h"
#include "test/support/expect_error.h"
#include "test/support/read_text.h"
#include "test/support/scratch_folder.h"
#include "tools/common/files.h"
#include "tools/common/session.h"
#include "vitrine/array.h"
#include "vitrine/method_decoder.h"

namespace vitrine {
namespace {

using examples::llama_decoder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Ids = std::vector<TokenId>;

constexpr GenerateOptions kSixGreedy = {.max_new_tokens = 6, .sampling = {.temperature = 0}};

class LoadedModel {
 public:
  explicit LoadedModel(const test::AlignedBytes& file, const DecoderMethodNames& given = {},
                       const MethodDecoderOptions& options = {}) {
    tools::write_file(folder_ / "model.pte", std::span(file));
    open(folder_ / "model.pte", given, options);
  }
  explicit LoadedModel(const std::filesystem::path& file) { open(file, {}, {}); }

  Ids answer(const Ids& prompt, const GenerateOptions& options = kSixGreedy) {
    TextGenerator generator(*decoder, nullptr);
    return generator.generate(prompt, options).ids;
  }

  std::unique_ptr<tools::Session> session;
  std::vector<std::unique_ptr<Method>> methods;
  std::unique_ptr<MethodDecoder> decoder;

 private:
  void open(const std::filesystem::path& file, const DecoderMethodNames& given,
            const MethodDecoderOptions& options) {
    session = std::make_unique<tools::Session>(tools::SessionOptions{file, {}, 1});
    const DecoderMethodNames names = find_decoder_methods(*session->program(), given);
    const auto load = [this](const std::string& name) -> Method* {
      if (name.empty()) return nullptr;
      methods.push_back(session->load_method(name));
      return methods.back().get();
    };
    DecoderMethods found;
    found.decode = load(names.decode);
    found.prefill = load(names.prefill);
    found.encoder = load(names.encoder);
    found.embedding = load(names.embedding);
    found.inputs = names.inputs;
    decoder = std::make_unique<MethodDecoder>(session->program(), found, options);
  }

  test::ScratchFolder folder_;
};

aot::Methods llama_methods(std::initializer_list<std::pair<const char*, uint64_t>> seeds) {
  aot::Methods methods;
  for (const auto& [name, seed] : seeds) {
    methods.emplace(name, llama_decoder({.length = 16, .group = 0, .seed = seed}));
  }
  return methods;
}

const Ids kPrompt = {3, 200, 17, 88, 5};

TEST(PrefillAndDecode, TextMatchesSingleMethod) {
  LoadedModel one(test::lower_methods(llama_methods({{"forward", 1}}), false));
  LoadedModel two(test::lower_methods(llama_methods({{"prefill", 1}, {"decode", 1}}), true));
  EXPECT_TRUE(one.decoder->info().parallel_prefill);
  EXPECT_TRUE(two.decoder->info().parallel_prefill);
  EXPECT_EQ(two.decoder->info().max_context, 16) << "the number of positions of the cache";
  EXPECT_EQ(two.decoder->info().max_tokens_per_call, 15);
  const Ids ids = one.answer(kPrompt);
  EXPECT_EQ(two.answer(kPrompt), ids);
  EXPECT_EQ(two.answer(kPrompt), ids) << "a second text over the same cache";
  TokenId fed_singly = -1;
  for (size_t i = 0; i < kPrompt.size(); ++i) {
    const auto logits = one.decoder->feed(Ids{kPrompt[i]}, static_cast<int64_t>(i));
    fed_singly = static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
  }
  EXPECT_EQ(fed_singly, ids.front());
}

// The two methods have different weights, so the logits show which one ran.
TEST(PrefillAndDecode, PrefillProcessesThePromptAndDecodeProcessesGeneratedTokens) {
  LoadedModel one(test::lower_methods(llama_methods({{"forward", 1}}), false));
  LoadedModel two(test::lower_methods(llama_methods({{"prefill", 1}, {"decode", 2}}), true));
  const auto logits_of = [](std::span<const float> logits) {
    return std::vector<float>(logits.begin(), logits.end());
  };
  const auto prefilled = logits_of(one.decoder->feed(kPrompt, 0));
  EXPECT_EQ(logits_of(two.decoder->feed(kPrompt, 0)), prefilled);
  const auto next = logits_of(one.decoder->feed(Ids{7}, 5));
  EXPECT_NE(logits_of(two.decoder->feed(Ids{7}, 5)), next);
}

TEST(PrefillAndDecode, RejectsMethodsWithSeparateCaches) {
  const auto file = test::lower_methods(llama_methods({{"prefill", 1}, {"decode", 1}}), false);
  EXPECT_ERROR(GenerationError, LoadedModel both(file),
               "method prefill does not share its cache: to use methods prefill and decode "
               "together, export the program with share_mutable_buffers");
  EXPECT_NO_THROW(LoadedModel(file, {.decode = "decode"}));
}

TEST(LoraMethods, AreSelectedByName) {
  const auto both =
      test::lower_methods(llama_methods({{"forward", 1}, {"lora_forward", 2}}), false);
  const Ids base =
      LoadedModel(test::lower_methods(llama_methods({{"forward", 1}}), false)).answer(kPrompt);
  const Ids lora =
      LoadedModel(test::lower_methods(llama_methods({{"forward", 2}}), false)).answer(kPrompt);
  ASSERT_NE(base, lora);
  EXPECT_EQ(LoadedModel(both).answer(kPrompt), base);
  EXPECT_EQ(LoadedModel(both, {.decode = "lora_forward"}).answer(kPrompt), lora);
}

TEST(FindDecoderMethods, ErrorListsMethodsWithInputs) {
  const auto file = test::lower_methods(llama_methods({{"a", 1}, {"b", 1}}), false);
  const auto program = test::load_program(file);
  EXPECT_THAT([&] { find_decoder_methods(*program); },
              ThrowsMessage<GenerationError>(
                  "cannot tell which method decodes: specify --method; methods with inputs: a, b"));
  EXPECT_THAT(
      [&] { find_decoder_methods(*program, {.decode = "c"}); },
      ThrowsMessage<GenerationError>("the program has no method c; methods with inputs: a, b"));
  EXPECT_THAT([&] { find_decoder_methods(*program, {.decode = "a", .prefill = "d"}); },
              ThrowsMessage<GenerationError>(HasSubstr("the program has no method d")));
  EXPECT_EQ(find_decoder_methods(*program, {.decode = "b"}).prefill, "");
}

TEST(DecoderInputs, RejectsInputKindsThatContradictTensorShapes) {
  const auto file = test::lower_methods(llama_methods({{"forward", 1}}), false);
  using enum DecoderInput;
  const auto with = [&](std::vector<DecoderInput> inputs) {
    return [&file, inputs] { LoadedModel(file, {.inputs = inputs}); };
  };
  EXPECT_NO_THROW(with({kIds, kPosition})());
  EXPECT_THAT(with({kIds}),
              ThrowsMessage<GenerationError>(
                  "method forward has 2 inputs, but the number of given input kinds is 1"));
  EXPECT_THAT(
      with({kPosition, kIds}),
      ThrowsMessage<GenerationError>("method forward: input 0 (i64[1,15]) cannot be a position"));
  EXPECT_THAT(with({kIds, kEncoded}),
              ThrowsMessage<GenerationError>(
                  "method forward: input 1 (i64[1]) cannot be the output of an encoder"));
  EXPECT_THAT([] { parse_decoder_input("mask"); },
              ThrowsMessage<GenerationError>(
                  "a decoder input must be ids, position or encoded, got \"mask\""));
}

// The model of seen_words_model(), which repeats the encoded ids in cyclic order.
class EncoderDecoder : public testing::Test {
 protected:
  static constexpr int64_t kWords = 20;
  static constexpr int64_t kLength = 12;
  test::AlignedBytes file(aot::EmitOptions options = {}) {
    return test::lower_methods(test::seen_words_model(kWords, kLength, 7), false, options);
  }
  static aot::EmitOptions full_metadata() {
    aot::EmitOptions options;
    options.constant_methods = {{"get_max_seq_len", {kLength}},
                                {"decoder_start_token_id", {int64_t{1}}},
                                {"get_eos_id", {int64_t{0}}}};
    return options;
  }
};

TEST_F(EncoderDecoder, DecoderSeesEncodedPrompt) {
  LoadedModel model(file(full_metadata()));
  EXPECT_TRUE(model.decoder->info().encodes_prompt);
  TextGenerator generator(*model.decoder, nullptr);
  GenerateOptions options = {.sampling = {.temperature = 0}};
  const Generation first = generator.generate(Ids{9, 4, 15, 4}, options);
  // After seven words, the model predicts the end id, 0.
  EXPECT_THAT(first.ids, ElementsAre(4, 9, 15, 4, 9, 15, 4, 0));
  EXPECT_EQ(first.reason, StopReason::kEndToken);
  EXPECT_EQ(first.statistics.prompt_tokens, 4);
  // A later prompt starts a new text. This prompt is shorter than the first one.
  EXPECT_THAT(generator.generate(Ids{8, 2}, options).ids, ElementsAre(2, 8, 2, 8, 2, 8, 2, 0));
}

TEST_F(EncoderDecoder, RejectedPromptLeavesTextUnchanged) {
  LoadedModel model(file(full_metadata()));
  TextGenerator generator(*model.decoder, nullptr);
  generator.generate(Ids{9, 4}, kSixGreedy);
  EXPECT_THAT([&] { generator.generate(Ids(13, 2), kSixGreedy); },
              ThrowsMessage<GenerationError>("method encoder takes 1 to 12 ids, got 13"));
  EXPECT_THROW(generator.generate(Ids{}, kSixGreedy), GenerationError);
  EXPECT_THROW(generator.generate(Ids{20}, kSixGreedy), GenerationError);
  EXPECT_EQ(generator.position(), 6);
  EXPECT_THAT(generator.generate(Ids{3, 11}, kSixGreedy).ids, ElementsAre(3, 11, 3, 11, 3, 11));
}

TEST_F(EncoderDecoder, RejectsMissingOrInvalidStartId) {
  const auto plain = file();
  EXPECT_ERROR(GenerationError, LoadedModel model(plain), "has no decoder_start_token_id");
  const MethodDecoderOptions wrong = {.start_id = 20};
  EXPECT_ERROR(GenerationError, LoadedModel model(plain, {}, wrong),
               "start id 20 is not in the vocabulary");
  LoadedModel model(plain, {}, {.max_context = 9, .start_id = 5});
  EXPECT_THAT(model.answer({9, 4}), ElementsAre(9, 4, 9, 4, 9, 4));
  EXPECT_EQ(model.decoder->info().max_context, 9);
}

TEST_F(EncoderDecoder, RejectsDecodingWithoutEncoderInput) {
  LoadedModel model(file(full_metadata()));
  EXPECT_THAT(
      [&] { model.decoder->feed(Ids{1}, 0); },
      ThrowsMessage<GenerationError>(
          "method text_decoder needs the output of method encoder, whose input is not set"));
}

TEST_F(EncoderDecoder, RejectsEncoderWithMismatchedOutputWidth) {
  auto methods = test::seen_words_model(kWords, kLength, 7);
  methods.at("encoder") = std::move(test::seen_words_model(kWords + 1, kLength, 7).at("encoder"));
  const auto other = test::lower_methods(std::move(methods), false, full_metadata());
  EXPECT_ERROR(GenerationError, LoadedModel model(other),
               "input 1 (f32[1,12,20]) must be ids (int64 [1, n])");
}

class LlmCorpus : public testing::Test {
 protected:
  void SetUp() override { VITRINE_NEEDS_CORPUS_LLM(); }
  static std::vector<float> floats(const std::filesystem::path& file) {
    return test::read_floats(file);
  }
  static std::vector<int64_t> integers(const std::filesystem::path& file) {
    const std::vector<std::byte> bytes = tools::read_file(file);
    std::vector<int64_t> values(bytes.size() / sizeof(int64_t));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

TEST_F(LlmCorpus, PrefillAndDecodeLogitsMatchPyTorch) {
  const auto folder = test::corpus_llm_dir() / "llama_prefill_decode_shared_kv";
  LoadedModel model(folder / "model.pte");
  EXPECT_THAT(model.decoder->notes(), ElementsAre(HasSubstr("the 16 positions of the cache")));
  for (const char* call : {"", "_c1", "_c2", "_c3"}) {
    const std::string end = std::string(call) + ".bin";
    Ids ids;
    for (const int64_t id : integers(folder / ("input_0" + end))) {
      ids.push_back(static_cast<TokenId>(id));
    }
    const int64_t position = integers(folder / ("input_1" + end)).at(0);
    const std::span<const float> logits = model.decoder->feed(ids, position);
    const std::vector<float> expected = floats(folder / ("expected_0" + end));
    ASSERT_EQ(logits.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(logits[i], expected[i], 1e-3) << end;
  }
}

TEST_F(LlmCorpus, TokenEmbeddingMethodFeedsDecoder) {
  const auto folder = test::corpus_llm_dir() / "multimodal_three_methods";
  LoadedModel model(folder / "model.pte");
  // The corpus has expected logits only for a text after an image. For this text without an image,
  // the test computes the expected logits by running the two methods directly.
  tools::Session session({folder / "model.pte", {}, 1});
  const auto embedding = session.load_method("token_embedding");
  const auto decode = session.load_method("text_decoder");
  std::vector<int64_t> fed = {3, 14, 15, 9};
  std::vector<int64_t> at = {0};
  Array ids = *Array::borrow<int64_t>(fed, {1, 4});
  Array position = *Array::borrow<int64_t>(at, {1});
  ASSERT_TRUE(embedding->set_input(0, EValue(&ids.mutable_tensor())).ok());
  ASSERT_TRUE(embedding->execute().ok());
  ASSERT_TRUE(decode->set_input(0, embedding->output(0)).ok());
  ASSERT_TRUE(decode->set_input(1, EValue(&position.mutable_tensor())).ok());
  ASSERT_TRUE(decode->execute().ok());
  const Tensor& expected = decode->output(0).unchecked_tensor();
  const std::span<const float> logits = model.decoder->feed(Ids{3, 14, 15, 9}, 0);
  ASSERT_EQ(static_cast<int64_t>(logits.size()), expected.numel());
  for (size_t i = 0; i < logits.size(); ++i) EXPECT_EQ(logits[i], expected.data<float>()[i]);
}

}  // namespace
}  // namespace vitrine
