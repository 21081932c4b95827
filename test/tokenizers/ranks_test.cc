#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/tokenizers/small_files.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using Ids = std::vector<TokenId>;
using testing::ElementsAre;

// Ranks 0 to 255 are the bytes. The next ranks are "ab", " a", " ab", "abc", "\n\n", "'s", "12",
// "123".
TEST(Tiktoken, MergesThePairWithTheLowestRankFirst) {
  const auto tokenizer = load_tokenizer(test::tokenizer_path("ranks.tiktoken"));
  EXPECT_EQ(tokenizer->form(), "tiktoken");
  EXPECT_THAT(tokenizer->encode("abc"), ElementsAre(259)) << "the word itself is a token";
  EXPECT_THAT(tokenizer->encode("abcx"), ElementsAre(259, 'x'));
  // "ab" is merged first, because its rank is lower than that of " a". Then " " and "ab" are merged
  // to " ab".
  EXPECT_THAT(tokenizer->encode(" ab"), ElementsAre(258));
  EXPECT_THAT(tokenizer->encode(" abd"), ElementsAre(258, 'd'));
  EXPECT_THAT(tokenizer->encode("12345"), ElementsAre(263, '4', '5'))
      << "words have at most three digits";
  EXPECT_THAT(tokenizer->encode("b's"), ElementsAre('b', 261));
  EXPECT_THAT(tokenizer->encode("a\n\n"), ElementsAre('a', 260));
  EXPECT_THAT(tokenizer->encode("é"), ElementsAre(0xC3, 0xA9));
  EXPECT_THAT(tokenizer->encode(std::string("\0", 1)), ElementsAre(0));
  EXPECT_THAT(tokenizer->encode(""), testing::IsEmpty());
}

TEST(Tiktoken, HasLlama3SpecialTokensAfterTheRanks) {
  const auto tokenizer = load_tokenizer(test::tokenizer_path("ranks.tiktoken"));
  EXPECT_EQ(tokenizer->vocabulary_size(), 264U + 256U);
  EXPECT_EQ(tokenizer->bos(), 264);
  EXPECT_EQ(tokenizer->eos(), 265);
  EXPECT_EQ(tokenizer->id_of("<|eot_id|>"), 264 + 9);
  EXPECT_THAT(tokenizer->encode("ab<|eot_id|>ab", {.num_bos = 1}), ElementsAre(264, 256, 273, 256));
  EXPECT_EQ(tokenizer->encode("<|eot_id|>", {.special_in_text = false}).size(), 10U);
  EXPECT_EQ(tokenizer->decode(Ids{264, 256, 273, 256}), "abab");
  EXPECT_EQ(tokenizer->decode(Ids{273}, {.skip_special = false}), "<|eot_id|>");
}

TEST(Tiktoken, MergesAMillionBytes) {
  const auto tokenizer = load_tokenizer(test::tokenizer_path("ranks.tiktoken"));
  std::string word;
  for (int i = 0; i < 500'000; ++i) word += "ab";
  EXPECT_EQ(tokenizer->encode(word), Ids(500'000, 256));
}

TEST(Tekken, HasSpecialTokensFirst) {
  const auto tokenizer = parse_tokenizer(R"({
    "config": {"pattern": "\\p{L}+|[^\\p{L}]", "default_vocab_size": 5,
               "default_num_special_tokens": 3},
    "vocab": [{"rank": 0, "token_bytes": "YQ==", "token_str": "a"},
              {"rank": 1, "token_bytes": "YWE=", "token_str": "aa"},
              {"rank": 2, "token_bytes": "YmI=", "token_str": "beyond the size"}]})",
                                         "tekken.json");
  EXPECT_EQ(tokenizer->form(), "Tekken");
  EXPECT_EQ(tokenizer->vocabulary_size(), 5U);
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_THAT(tokenizer->encode("aaa</s>"), ElementsAre(4, 3, 2));
  EXPECT_THROW(tokenizer->encode("b"), TokenizerError);
}

constexpr TokenId kFirst = 259;  // after <unk>, <s>, </s> and the bytes

std::unique_ptr<Tokenizer> small() {
  return parse_tokenizer(
      test::llama2c_file({{-1, " "}, {-2, "a"}, {-3, "b"}, {-9, " a"}, {-5, "ab"}, {-4, "abb"}}),
      "tokenizer.bin");
}

TEST(Llama2c, MergesThePairWithTheHighestScoreFirst) {
  const auto tokenizer = small();
  EXPECT_EQ(tokenizer->form(), "llama2.c");
  EXPECT_EQ(tokenizer->vocabulary_size(), 265U);
  // The tokenizer adds a space before the text. It merges "ab" (score -5) before " a" (score -9),
  // and then merges "ab" and "b" to "abb".
  EXPECT_THAT(tokenizer->encode("abb"), ElementsAre(kFirst, kFirst + 5));
  EXPECT_THAT(tokenizer->encode("a"), ElementsAre(kFirst + 3));
  EXPECT_THAT(tokenizer->encode(""), testing::IsEmpty());
  EXPECT_THAT(tokenizer->encode("é", {.num_bos = 1, .num_eos = 1}),
              ElementsAre(1, kFirst, 0xC3 + 3, 0xA9 + 3, 2));
  EXPECT_THAT(tokenizer->encode("\xFF"), ElementsAre(kFirst, 0xFF + 3))
      << "invalid UTF-8 is encoded byte by byte";
}

TEST(Llama2c, DecodingDropsTheAddedSpace) {
  const auto tokenizer = small();
  EXPECT_EQ(tokenizer->decode(Ids{1, kFirst + 3, kFirst + 3, 2}), "a a");
  EXPECT_EQ(tokenizer->decode(Ids{kFirst + 3}, {.continues = true}), " a");
  EXPECT_EQ(tokenizer->decode(Ids{kFirst + 1, 0xC3 + 3, 0xA9 + 3}), "aé");
}

TEST(Llama2c, AcceptsFilesThatLackTheLastTokens) {
  const auto tokenizer =
      parse_tokenizer(test::llama2c_file(40, 1, 2, 8, {{0, " "}, {0, "a"}, {0, "b"}}), "short.bin");
  EXPECT_EQ(tokenizer->vocabulary_size(), 40U);
  EXPECT_EQ(tokenizer->token(39), "<pad>");
  EXPECT_EQ(tokenizer->decode(Ids{39}), "");
  EXPECT_THROW(tokenizer->encode("c"), TokenizerError)
      << "the file lacks both the character and its byte";
}

}  // namespace
}  // namespace vitrine
