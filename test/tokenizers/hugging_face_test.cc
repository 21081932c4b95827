// Tests small tokenizer.json files. Expected ids are those of Hugging Face's tokenizers on the same
// files: version 0.23.2 for WordLevel and version 0.21.4 for other models, unless a test names
// another version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "test/support/corpus.h"
#include "test/support/read_json.h"
#include "test/tokenizers/small_files.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using Ids = std::vector<TokenId>;
using nlohmann::json;
using test::tokenizer_path;
using testing::ElementsAre;

struct Example {
  const char* text;
  Ids ids;
  const char* decoded;
};

void expect_all(const char* file, const std::vector<Example>& examples) {
  const auto tokenizer = load_tokenizer(tokenizer_path(file));
  for (const Example& example : examples) {
    EXPECT_EQ(tokenizer->encode(example.text), example.ids) << example.text;
    EXPECT_EQ(tokenizer->decode(example.ids, {.skip_special = false}), example.decoded);
  }
}

TEST(HuggingFace, EncodesByteLevelBpe) {
  expect_all("byte_level.json",
             {{"abc ab  aab12é\n", {12, 11, 0, 0, 1, 9, 14, 13, 8}, "abc ab  aab12é\n"},
              {"e\u0301", {13}, "é"},                // NFC
              {"a<tool> b", {1, 18, 0, 2}, "a< b"},  // a single word only; unknown bytes vanish
              {"a <tool> b", {1, 22, 2}, "a<tool>b"},
              {"<|end_of_text|>ab", {21, 9}, "<|end_of_text|>ab"},
              {"aaaaaaa", {17, 16, 1}, "aaaaaaa"},
              {"", {}, ""}});
}

TEST(HuggingFace, EncodesBpeWithByteFallback) {
  expect_all("byte_fallback.json", {{"hi", {13}, "hi"},
                                    {" hi", {9, 13}, " hi"},
                                    {"hi\n€é", {13, 3, 6, 7, 8, 4, 5}, "hi\n€é"},
                                    {"<s>hi</s> hi", {1, 13, 2, 9, 13}, "<s> hi</s>  hi"},
                                    // "q" is unknown. Like the reference, the tokenizer puts the id
                                    // of <unk> after the byte ids of "€".
                                    {"q€", {9, 6, 7, 8, 0}, "€<unk>"}});
}

TEST(HuggingFace, EncodesWordPiece) {
  expect_all("word_piece.json",
             {{"Playing, PLAYED café 中中", {3, 4, 6, 3, 5, 7, 8, 8}, "playing, played cafe 中 中"},
              {"[CLS] play", {1, 3}, "[CLS] play"},
              {"playingxxxxxxxxx", {0}, "[UNK]"},
              {"play\u200bing", {3, 4}, "playing"}});
}

TEST(HuggingFace, EncodesUnigram) {
  expect_all("unigram.json", {{"ab", {5, 3}, "ab"},
                              {"a  b", {5, 1, 1, 3}, "a  b"},
                              {"ﬁ", {1, 7}, "fi"},  // NFKC
                              {"qqab", {1, 0, 4}, "<unk>ab"},
                              {"▁a", {5}, "a"}});
}

TEST(HuggingFace, EncodesWordLevel) {
  expect_all("word_level.json", {{"りんご 林檎", {4, 5}, "りんご 林檎"},
                                 {"kiwi\tand\x01 pear", {6, 7, 8, 9}, "kiwi and pear"},
                                 {"/kiwi//林檎.", {6, 5, 11}, "kiwi林檎."},
                                 {"<s>kiwi", {1, 6}, "<s>kiwi"},
                                 {"fig", {0}, "<unk>"}});
  const auto tokenizer = load_tokenizer(tokenizer_path("word_level.json"));
  EXPECT_EQ(tokenizer->decode(Ids{6, 6, 2, 6, 12, 3, 10, 3, 3, 10, 1}), "kiwikiwi. fig  fig");
}

TEST(HuggingFace, AddsTheTemplateOnRequest) {
  const auto bert = load_tokenizer(tokenizer_path("word_piece.json"));
  EXPECT_THAT(bert->encode("play", {.add_template = true}), ElementsAre(1, 3, 2));
  EXPECT_THAT(bert->encode("", {.add_template = true}), ElementsAre(1, 2));
  const auto llama = load_tokenizer(tokenizer_path("byte_level.json"));
  EXPECT_THAT(llama->encode("ab", {.add_template = true}), ElementsAre(20, 9));
  EXPECT_THAT(llama->encode("ab", {.num_bos = 2, .num_eos = 1}), ElementsAre(20, 20, 9, 21));
}

TEST(HuggingFace, EncodesNamesOfSpecialTokensAsTextOnRequest) {
  const auto tokenizer = load_tokenizer(tokenizer_path("byte_fallback.json"));
  EXPECT_THAT(tokenizer->encode("</s>"), ElementsAre(2));
  const Ids ids = tokenizer->encode("</s>", {.special_in_text = false});
  EXPECT_THAT(ids, testing::Not(testing::Contains(2)));
}

TEST(HuggingFace, ReportsVocabularyAndSpecialTokens) {
  const auto tokenizer = load_tokenizer(tokenizer_path("byte_level.json"));
  EXPECT_EQ(tokenizer->form(), "Hugging Face BPE");
  EXPECT_EQ(tokenizer->vocabulary_size(), 23U);
  EXPECT_EQ(tokenizer->bos(), 20);
  EXPECT_EQ(tokenizer->eos(), 21);
  EXPECT_EQ(tokenizer->token(12), "abc");
  EXPECT_EQ(tokenizer->token(22), "<tool>");
  EXPECT_EQ(tokenizer->token(23), std::nullopt);
  EXPECT_EQ(tokenizer->id_of("Ġab"), 11);
  EXPECT_EQ(tokenizer->id_of("nothing"), std::nullopt);
  ASSERT_EQ(tokenizer->special_tokens().size(), 2U);
  EXPECT_EQ(tokenizer->special_tokens()[1].text, "<|end_of_text|>");
}

TEST(HuggingFace, SkipsSpecialTokensInText) {
  const auto tokenizer = load_tokenizer(tokenizer_path("byte_level.json"));
  EXPECT_EQ(tokenizer->decode(Ids{20, 9, 21}), "ab");
  EXPECT_EQ(tokenizer->decode(Ids{9, 500}), "ab") << "unknown ids are ignored";
  EXPECT_THROW(tokenizer->decode(Ids{-1}), TokenizerError);
}

// Like tokenizers 0.23.2, Vitrine decodes an added token to its normalized text. On request,
// Vitrine skips all special tokens. In contrast, tokenizers 0.23.2 never skips normalized special
// tokens.
TEST(HuggingFace, DecodesNormalizedAddedTokens) {
  struct Added {
    TokenId first;  // the first of four ids
    std::vector<Example> examples;
  };
  const std::map<const char*, Added> files = {
      {"byte_fallback.json",
       {15,
        {{"hi <Extra> hi", {13, 15, 13}, "hi <Extra> hi"},
         {"hi<Extra>hi", {13, 0, 10, 11}, "hi<unk>hi"},
         {"hi <Raw>hi", {13, 9, 16, 13}, "hi <Raw> hi"},
         {"hi Two words hi", {13, 17, 13}, "hi Two words hi"},
         {"<Spec> hi", {18, 13}, "<Spec> hi"}}}},
      {"word_piece.json",
       {10,
        {{"hi <Extra> hi", {0, 10, 0}, "[UNK] <extra> [UNK]"},
         {"hi <Raw>hi", {0, 11, 0}, "[UNK] <Raw> [UNK]"},
         {"hi Two words hi", {0, 12, 0}, "[UNK] two words [UNK]"},
         {"<Spec> hi", {13, 0}, "<spec> [UNK]"}}}}};
  for (const auto& [name, added] : files) {
    auto file = nlohmann::json::parse(test::tokenizer_text(name));
    auto add = [&, id = added.first](const char* text, bool normalized, bool special) mutable {
      file["added_tokens"].push_back({{"id", id++},
                                      {"content", text},
                                      {"single_word", false},
                                      {"lstrip", false},
                                      {"rstrip", false},
                                      {"normalized", normalized},
                                      {"special", special}});
    };
    add("<Extra>", true, false);
    add("<Raw>", false, false);
    add("Two words", true, false);
    add("<Spec>", true, true);
    const auto tokenizer = parse_tokenizer(file.dump(), name);
    for (const Example& example : added.examples) {
      EXPECT_EQ(tokenizer->encode(example.text), example.ids) << example.text;
      EXPECT_EQ(tokenizer->decode(example.ids, {.skip_special = false}), example.decoded);
    }
    EXPECT_EQ(tokenizer->decode(std::array{added.first + 3}), "");
    EXPECT_EQ(tokenizer->token(added.first), "<Extra>") << "the vocabulary has this spelling";
  }
}

TEST(HuggingFace, ReplacesInvalidUtf8) {
  const auto tokenizer = load_tokenizer(tokenizer_path("byte_fallback.json"));
  const Ids whole = tokenizer->encode("h\xEF\xBF\xBDi");
  EXPECT_EQ(tokenizer->encode("h\xFFi"), whole);
  EXPECT_EQ(tokenizer->encode("h\xE2\x82i"), whole)
      << "the run could begin a character, so it becomes one replacement";
  EXPECT_EQ(tokenizer->encode("h\xED\xA0\x80i"), tokenizer->encode("h\uFFFD\uFFFD\uFFFDi"))
      << "each byte of a surrogate is replaced";
}

// Merging in quadratic time would take hours.
TEST(HuggingFace, EncodesAWordOfAMillionBytes) {
  const auto tokenizer = load_tokenizer(tokenizer_path("byte_level.json"));
  const std::string word(1'000'000, 'a');
  const Ids ids = tokenizer->encode(word);
  EXPECT_EQ(ids, Ids(250'000, 17));
  EXPECT_EQ(tokenizer->decode(ids), word);
  EXPECT_EQ(load_tokenizer(tokenizer_path("unigram.json"))->encode(word).size(), 1'000'000U);
  EXPECT_THAT(load_tokenizer(tokenizer_path("word_piece.json"))->encode(word), ElementsAre(0));
}

// Compares ids and texts with those of the reference implementation, for the formats that real
// models use.

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

// Both files have the same vocabulary. In the JSON file, its ids are greater by 5, because special
// tokens have the first five ids.
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
