// Compares ids and texts with those of the reference implementation, for the formats that real
// models use.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;

class ReferenceIds : public testing::TestWithParam<const char*> {};

TEST_P(ReferenceIds, MatchOnEveryText) {
  VITRINE_NEEDS_CORPUS_LLM();
  const auto folder = test::corpus_llm_dir() / "tokenizers";
  const json expected = test::read_json(folder / "expected.json");
  const auto tokenizer = load_tokenizer(folder / (std::string(GetParam()) + ".json"));
  const json& cases = expected.at(GetParam());
  ASSERT_GT(cases.size(), 20U);
  for (const json& item : cases) {
    const std::string text = item.at("text");
    SCOPED_TRACE(text);
    const Ids plain = item.at("ids_plain");
    EXPECT_EQ(tokenizer->encode(text), plain);
    EXPECT_EQ(tokenizer->encode(text, {.add_template = true}), item.at("ids").get<Ids>());
    EXPECT_EQ(tokenizer->decode(plain, {.skip_special = false}),
              item.at("decoded").get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, ReferenceIds,
                         testing::Values("gpt2_like", "llama3_like", "qwen_like", "gemma_like",
                                         "llama2_like", "bert_like", "t5_like"),
                         [](const auto& form) { return std::string(form.param); });

// The two files have the same vocabulary, but the JSON file has five special tokens before it.
TEST(ReferenceRanks, TiktokenFileEncodesLikeJsonFileWithTheSameVocabulary) {
  VITRINE_NEEDS_CORPUS_LLM();
  constexpr TokenId kSpecialTokens = 5;
  const auto folder = test::corpus_llm_dir() / "tokenizers";
  const json expected = test::read_json(folder / "expected.json");
  const auto tokenizer = load_tokenizer(folder / "llama3_like.tiktoken");
  EXPECT_EQ(tokenizer->form(), "tiktoken");
  for (const json& item : expected.at("llama3_like")) {
    const std::string text = item.at("text");
    Ids ids = item.at("ids_plain");
    for (TokenId& id : ids) id -= kSpecialTokens;
    if (std::ranges::any_of(ids, [](TokenId id) { return id < 0; })) continue;
    EXPECT_EQ(tokenizer->encode(text), ids) << text;
    EXPECT_EQ(tokenizer->decode(ids), item.at("decoded").get<std::string>()) << text;
  }
}

TEST(ReferenceSentencePiece, MatchesTheTrainedModel) {
  VITRINE_NEEDS_CORPUS_LLM();
  const auto folder = test::corpus_llm_dir() / "kjv_f32";
  const auto tokenizer = load_tokenizer(folder / "tokenizer.model");
  EXPECT_EQ(tokenizer->form(), "SentencePiece");
  EXPECT_EQ(tokenizer->vocabulary_size(), 512U);
  for (const json& item : test::read_json(folder / "generate.json")) {
    const std::string prompt = item.at("prompt");
    EXPECT_EQ(tokenizer->encode(prompt, {.num_bos = 1}), item.at("prompt_ids").get<Ids>());
    const Ids ids = item.at("ids");
    EXPECT_EQ(tokenizer->decode(ids, {.continues = true}),
              item.at("continuation").get<std::string>());
    std::string streamed;
    const auto stream = tokenizer->stream({.continues = true});
    for (const TokenId id : ids) streamed += stream->push(id);
    EXPECT_EQ(streamed + stream->finish(), item.at("continuation").get<std::string>());
    EXPECT_EQ(tokenizer->decode(item.at("prompt_ids").get<Ids>()), prompt);
  }
}

}  // namespace
}  // namespace vitrine
