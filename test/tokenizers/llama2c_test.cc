#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/tokenizers/small_files.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using Ids = std::vector<TokenId>;

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
  // and then "ab" becomes "abb".
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
