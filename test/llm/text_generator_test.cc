#include "vitrine/text_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "test/llm/fake_decoder.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"

namespace vitrine {
namespace {

using test::FakeDecoder;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<TokenId>;

// The sample tokenizer has 264 ranks (the bytes, "ab", " a", " ab", "abc"...), then the 256 special
// tokens of Llama 3.
constexpr size_t kTokenizerIds = 520;

std::unique_ptr<Tokenizer> ranks() {
  return load_tokenizer(test::sample("tokenizers/ranks.tiktoken"));
}

GenerateOptions greedy(int64_t max_new_tokens = -1) {
  return {.max_new_tokens = max_new_tokens, .sampling = {.temperature = 0}};
}

class TextGeneratorTest : public testing::Test {
 protected:
  DecoderInfo info = {
      .max_context = 20, .max_tokens_per_call = 3, .parallel_prefill = true, .vocabulary = 100};
};

TEST_F(TextGeneratorTest, FeedsPromptInChunks) {
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  const Generation result = generator.generate(Ids{1, 2, 3, 4}, greedy(3));
  EXPECT_THAT(result.ids, ElementsAre(5, 6, 7));
  EXPECT_EQ(result.reason, StopReason::kLength);
  EXPECT_THAT(model.calls, ElementsAre(FakeDecoder::Call{{1, 2, 3}, 0}, FakeDecoder::Call{{4}, 3},
                                       FakeDecoder::Call{{5}, 4}, FakeDecoder::Call{{6}, 5}));
  EXPECT_EQ(generator.position(), 6);
}

TEST_F(TextGeneratorTest, FeedsTokensInCallsThatTheModelSupports) {
  using Calls = std::vector<FakeDecoder::Call>;
  const auto calls = [this](const Ids& prompt, int64_t max_new_tokens) {
    FakeDecoder model(info);
    TextGenerator(model, nullptr).generate(prompt, greedy(max_new_tokens));
    return model.calls;
  };
  info.min_tokens_per_call = info.max_tokens_per_call;
  EXPECT_EQ(calls({1, 2, 3, 4, 5}, 1), (Calls{{{1, 2, 3}, 0}, {{4}, 3}, {{5}, 4}}))
      << "an incomplete chunk is fed token by token";
  info.min_tokens_per_call = 1;
  info.parallel_prefill = false;
  EXPECT_EQ(calls({7, 8}, 1), (Calls{{{7}, 0}, {{8}, 1}}));
  info.parallel_prefill = true;
  info.has_cache = false;
  EXPECT_EQ(calls({7, 8}, 2), (Calls{{{7, 8}, 0}, {{7, 8, 9}, 0}}))
      << "without a cache, all tokens are fed again";
}

TEST_F(TextGeneratorTest, LaterPromptContinuesConversation) {
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  generator.generate(Ids{1}, greedy(2));  // the answer is 2, 3; 3 is not fed yet
  model.calls.clear();
  const Generation second = generator.generate(Ids{50}, greedy(1));
  EXPECT_THAT(model.calls, ElementsAre(FakeDecoder::Call{{3, 50}, 2}));
  EXPECT_THAT(second.ids, ElementsAre(51));
  EXPECT_EQ(second.statistics.prompt_tokens, 2);
  generator.reset();
  model.calls.clear();
  generator.generate(Ids{9}, greedy(1));
  EXPECT_THAT(model.calls, ElementsAre(FakeDecoder::Call{{9}, 0}));
}

TEST_F(TextGeneratorTest, StopsAtEndId) {
  info.eos_ids = {40, 12};
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  const Generation result = generator.generate(Ids{9}, greedy());
  EXPECT_THAT(result.ids, ElementsAre(10, 11, 12));
  EXPECT_EQ(result.reason, StopReason::kEndToken);
  EXPECT_EQ(result.statistics.generated_tokens, 2)
      << "excludes the first token and includes the end token";
  generator.reset();
  GenerateOptions on = greedy(5);
  on.ignore_eos = true;
  EXPECT_EQ(generator.generate(Ids{9}, on).ids.size(), 5U);
}

TEST_F(TextGeneratorTest, StopsBeforeExceedingTheContext) {
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  const Generation result = generator.generate(Ids{1, 2}, greedy());
  EXPECT_EQ(result.ids.size(), 18U) << "20 positions, of which the prompt uses 2";
  EXPECT_EQ(generator.position(), 19) << "the last token is not fed";
  EXPECT_THROW(generator.generate(Ids{1}, greedy()), GenerationError);
  generator.reset();
  EXPECT_THROW(generator.generate(Ids(20, 1), greedy()), GenerationError);
  EXPECT_EQ(generator.position(), 0) << "nothing was fed";
  EXPECT_EQ(generator.generate(Ids(19, 1), greedy()).ids.size(), 1U);
}

TEST_F(TextGeneratorTest, AppliesSmallerOfTwoLimits) {
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  GenerateOptions options = greedy(4);
  options.seq_len = 5;
  EXPECT_EQ(generator.generate(Ids{1, 2}, options).ids.size(), 3U);
  generator.reset();
  options.seq_len = 2;
  EXPECT_THROW(generator.generate(Ids{1, 2}, options), GenerationError);
  EXPECT_THROW(generator.generate(Ids{1, 2}, greedy(0)), GenerationError);
}

TEST_F(TextGeneratorTest, RejectsInvalidPrompts) {
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  EXPECT_THROW(generator.generate(Ids{}, greedy()), GenerationError);
  EXPECT_THROW(generator.generate("text", greedy()), GenerationError) << "a text needs a tokenizer";
  const Ids outside = {1, 100};
  EXPECT_THAT([&] { generator.generate(outside, greedy()); },
              testing::ThrowsMessage<GenerationError>(
                  "token 1 of the prompt has id 100, but the vocabulary has 100 ids"));
  EXPECT_THROW(generator.generate(Ids{-1}, greedy()), GenerationError);
  EXPECT_TRUE(model.calls.empty());
}

TEST_F(TextGeneratorTest, ResetsConversationWhenModelFails) {
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  model.fails_at = 3;
  EXPECT_THROW(generator.generate(Ids{1, 2}, greedy()), GenerationError);
  EXPECT_EQ(generator.position(), 0);
  model.fails_at = -1;
  EXPECT_THAT(generator.generate(Ids{5}, greedy(1)).ids, ElementsAre(6));
}

TEST_F(TextGeneratorTest, RejectsTokenizerOfAnotherModel) {
  const auto tokenizer = ranks();
  for (const auto& [logits, fits] : {std::pair<size_t, bool>{kTokenizerIds / 2, false},
                                     {kTokenizerIds - 1, true},  // one id has no logit
                                     {kTokenizerIds, true},
                                     {kTokenizerIds + 8, true},  // the logits are padded
                                     {2 * kTokenizerIds, false}}) {
    info.vocabulary = logits;
    FakeDecoder model(info);
    if (fits) {
      EXPECT_NO_THROW(TextGenerator(model, tokenizer.get()));
    } else {
      EXPECT_THROW(TextGenerator(model, tokenizer.get()), GenerationError) << logits;
    }
  }
}

// In Gemma 3's text models, the id of the image placeholder is too large to have a logit.
TEST_F(TextGeneratorTest, RejectsPromptIdsWithoutLogits) {
  const auto tokenizer = ranks();
  info.vocabulary = kTokenizerIds - 2;
  FakeDecoder model(info);
  TextGenerator generator(model, tokenizer.get());
  EXPECT_THAT(generator.generate(Ids{kTokenizerIds - 3}, greedy(1)).ids, ElementsAre(0));
  EXPECT_THROW(generator.generate(Ids{kTokenizerIds - 2}, greedy(1)), GenerationError);
  EXPECT_THROW(generator.generate("A<|reserved_special_token_246|>B", greedy(1)), GenerationError);
}

TEST_F(TextGeneratorTest, StreamsTextUntilStopIsCalled) {
  const auto tokenizer = ranks();
  info.vocabulary = kTokenizerIds;
  FakeDecoder model(info);
  TextGenerator generator(model, tokenizer.get());
  std::string streamed;
  const Generation result = generator.generate("A", greedy(), [&](const NewToken& token) {
    streamed += token.text;
    if (token.id == 'D') generator.stop();
  });
  EXPECT_EQ(streamed, "BCD");
  EXPECT_EQ(result.text, "BCD");
  EXPECT_EQ(result.reason, StopReason::kStopped);
  EXPECT_THAT(result.prompt, ElementsAre('A'));
  EXPECT_EQ(generator.generate("X", greedy(1)).text, "Y") << "stop() ends one call only";
}

// Counts the steps that have begun but not ended.
class OpenSteps final : public GenerationObserver {
 public:
  void on_prompt(uint64_t, uint64_t) override {}
  void begin_step(const GenerationStep&) override { ++open; }
  void end_step(const GenerationStep&) override { --open; }
  int open = 0;
};

TEST_F(TextGeneratorTest, StopEndsPrefillBetweenChunks) {
  info.max_context = 100;
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  OpenSteps steps;
  generator.set_observer(&steps);
  model.on_feed = [&] {
    if (model.calls.size() == 3) generator.stop();
  };
  const Generation result = generator.generate(Ids(30, 1), greedy());
  EXPECT_EQ(result.reason, StopReason::kStopped);
  EXPECT_THAT(result.ids, testing::IsEmpty());
  EXPECT_EQ(model.calls.size(), 3U) << "the prompt has ten chunks";
  EXPECT_EQ(generator.position(), 9);
  EXPECT_EQ(steps.open, 0);
  const Generation next = generator.generate(Ids{7}, greedy(1));
  EXPECT_THAT(next.ids, ElementsAre(8));
  EXPECT_EQ(model.calls.back(), (FakeDecoder::Call{{7}, 9}));
}

TEST_F(TextGeneratorTest, PendingTokenIsFedOnlyOnceAfterAStoppedPrefill) {
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  generator.generate(Ids{1}, greedy(1));  // 2 is not fed yet
  model.on_feed = [&] { generator.stop(); };
  EXPECT_THAT(generator.generate(Ids{5, 6, 7, 8}, greedy()).ids, testing::IsEmpty());
  EXPECT_EQ(model.calls.back(), (FakeDecoder::Call{{2, 5, 6}, 1}));
  model.on_feed = [] {};
  generator.generate(Ids{9}, greedy(1));
  EXPECT_EQ(model.calls.back(), (FakeDecoder::Call{{9}, 4}));
}

TEST_F(TextGeneratorTest, SamplingTimeExcludesCallbacks) {
  FakeDecoder model(info);
  constexpr std::chrono::milliseconds kSlow{50};
  const Generation result =
      TextGenerator(model, nullptr).generate(Ids{1}, greedy(2), [&](const NewToken&) {
        std::this_thread::sleep_for(kSlow);
      });
  const GenerationStatistics& times = result.statistics;
  EXPECT_LT(times.aggregate_sampling_time_ms, kSlow.count() / 2);
  const int64_t min_ms = 2 * kSlow.count() - 2;  // the clock counts whole milliseconds
  EXPECT_GE(times.inference_end_ms - times.first_token_ms, min_ms);
  EXPECT_GE(times.inference_end_ms - times.prompt_eval_end_ms, min_ms);
}

// At this temperature, all tokens are equally probable.
TEST_F(TextGeneratorTest, RandomSequenceDoesNotRestartWithinAConversation) {
  info.max_context = 100;
  FakeDecoder model(info);
  TextGenerator generator(model, nullptr);
  GenerateOptions options = {.max_new_tokens = 8,
                             .sampling = {.temperature = 1e6F, .top_p = 1, .seed = 5}};
  const auto answer = [&] { return generator.generate(Ids{1}, options).ids; };
  const Ids first = answer();
  const Ids second = answer();
  EXPECT_NE(first, second);
  options.sampling.seed = 6;
  const Ids other = answer();
  EXPECT_NE(other, first);
  options.sampling.seed = 5;
  EXPECT_EQ(answer(), first) << "changing the seed starts a new sequence";
  generator.reset();
  EXPECT_EQ(answer(), first);
  EXPECT_EQ(answer(), second);
}

TEST_F(TextGeneratorTest, AddsTemplatePrefixToFirstPromptOnly) {
  const auto tokenizer = load_tokenizer(test::sample("tokenizers/byte_level.json"));
  info.vocabulary = tokenizer->vocabulary_size();
  for (const bool encodes_prompt : {false, true}) {
    info.encodes_prompt = encodes_prompt;
    info.start_id = 1;
    FakeDecoder model(info);
    TextGenerator generator(model, tokenizer.get());
    GenerateOptions options = greedy(1);
    options.encode.add_template = true;
    EXPECT_THAT(generator.generate("ab", options).prompt, ElementsAre(20, 9));
    const Generation second = generator.generate("ab", options);
    if (encodes_prompt) {
      EXPECT_THAT(second.prompt, ElementsAre(20, 9)) << "each prompt starts a new text";
    } else {
      EXPECT_THAT(second.prompt, ElementsAre(9));
    }
    generator.reset();
    EXPECT_THAT(generator.generate("ab", options).prompt, ElementsAre(20, 9));
  }
}

// num_bos and num_eos add tokens before and after the tokens of the template.
TEST_F(TextGeneratorTest, LaterPromptsKeepTemplateSuffix) {
  auto file = nlohmann::json::parse(test::read_text(test::sample("tokenizers/byte_level.json")));
  const auto special = [](const char* name, TokenId id) {
    return nlohmann::json{{"id", name}, {"ids", {id}}, {"tokens", {name}}};
  };
  file["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single",
       {{{"SpecialToken", {{"id", "before"}, {"type_id", 0}}}},
        {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
        {{"SpecialToken", {{"id", "after"}, {"type_id", 0}}}}}},
      {"pair",
       {{{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
        {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}}},
      {"special_tokens", {{"before", special("before", 9)}, {"after", special("after", 22)}}}};
  const auto tokenizer = parse_tokenizer(file.dump(), "the file");
  const TokenId bos = tokenizer->bos().value();
  const TokenId eos = tokenizer->eos().value();
  info.max_context = 100;
  info.vocabulary = tokenizer->vocabulary_size();
  FakeDecoder model(info);
  TextGenerator generator(model, tokenizer.get());
  GenerateOptions options = greedy(1);
  options.encode.add_template = true;
  const auto prompt = [&](const char* text) { return generator.generate(text, options).prompt; };
  EXPECT_THAT(prompt("ab"), ElementsAre(9, 9, 22))
      << "the text and the template's prefix are both id 9";
  EXPECT_THAT(prompt("ab"), ElementsAre(9, 22));
  EXPECT_THAT(prompt(""), ElementsAre()) << "an empty prompt continues the answer";
  options.encode.num_bos = 1;
  options.encode.num_eos = 2;
  EXPECT_THAT(prompt("ab"), ElementsAre(bos, 9, 22, eos, eos));
}

// Token 5 is "\u2581a": "a" with a space before it.
TEST_F(TextGeneratorTest, AnswerToEncodedPromptHasNoLeadingSpace) {
  const auto tokenizer = load_tokenizer(test::sample("tokenizers/unigram.json"));
  info.vocabulary = tokenizer->vocabulary_size();
  FakeDecoder plain(info);
  EXPECT_EQ(TextGenerator(plain, tokenizer.get()).generate(Ids{4}, greedy(1)).text, " a");
  info.encodes_prompt = true;
  info.start_id = 4;
  FakeDecoder model(info);
  EXPECT_EQ(TextGenerator(model, tokenizer.get()).generate(Ids{2}, greedy(1)).text, "a");
  EXPECT_THAT(model.encoded, ElementsAre(2));
}

TEST_F(TextGeneratorTest, IncompleteCharacterBecomesReplacementCharacter) {
  const auto tokenizer = ranks();
  info.vocabulary = kTokenizerIds;
  FakeDecoder model(info);
  TextGenerator generator(model, tokenizer.get());
  std::string streamed;
  const Generation result = generator.generate(
      Ids{0xE1}, greedy(1), [&](const NewToken& token) { streamed += token.text; });
  EXPECT_EQ(result.text, "\uFFFD");
  EXPECT_EQ(streamed, "\uFFFD");
}

TEST(GenerationStatistics, JsonMatchesExecuTorchRunner) {
  GenerationStatistics statistics;
  statistics.prompt_tokens = 10;
  statistics.generated_tokens = 20;
  statistics.model_load_start_ms = 1000;
  statistics.model_load_end_ms = 1100;
  statistics.inference_start_ms = 2000;
  statistics.prompt_eval_end_ms = statistics.first_token_ms = 2050;
  statistics.inference_end_ms = 2150;
  EXPECT_EQ(statistics.json(),
            "{\"prefill_token_per_sec\":200,\"decode_token_per_sec\":200,\"prompt_tokens\":10,"
            "\"generated_tokens\":20,\"model_load_start_ms\":1000,\"model_load_end_ms\":1100,"
            "\"inference_start_ms\":2000,\"inference_end_ms\":2150,\"prompt_eval_end_ms\":2050,"
            "\"first_token_ms\":2050,\"aggregate_sampling_time_ms\":0,"
            "\"SCALING_FACTOR_UNITS_PER_SECOND\":1000}");
  statistics.inference_end_ms = 2050;
  EXPECT_THAT(statistics.json(), testing::Not(HasSubstr("decode_token_per_sec")));
  EXPECT_TRUE(nlohmann::json::accept(statistics.json()));
}

}  // namespace
}  // namespace vitrine
