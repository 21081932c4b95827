#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "test/tokenizers/small_files.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using Ids = std::vector<TokenId>;

std::vector<std::string> parts(const Tokenizer& tokenizer, const Ids& ids,
                               const DecodeOptions& options = {}) {
  std::vector<std::string> found;
  const auto stream = tokenizer.stream(options);
  for (const TokenId id : ids) found.push_back(stream->push(id));
  found.push_back(stream->finish());
  return found;
}

using Parts = std::vector<std::string>;

TEST(DecodeStream, ReturnsCompleteCharacters) {
  const auto tokenizer = load_tokenizer(test::tokenizer_path("byte_fallback.json"));
  EXPECT_EQ(parts(*tokenizer, {13, 6, 7, 8, 3}), (Parts{"hi", "", "", "€", "\n", ""}));
  const auto byte_level = load_tokenizer(test::tokenizer_path("byte_level.json"));
  EXPECT_EQ(parts(*byte_level, {9, 4, 5, 1}), (Parts{"ab", "", "é", "a", ""}));
}

TEST(DecodeStream, ReplacesInvalidBytes) {
  const auto tokenizer = load_tokenizer(test::tokenizer_path("byte_fallback.json"));
  EXPECT_EQ(parts(*tokenizer, {13, 6, 7, 13}), (Parts{"hi", "", "", "\uFFFD\uFFFD hi", ""}));
  EXPECT_EQ(parts(*tokenizer, {13, 6}), (Parts{"hi", "", "\uFFFD"}));
  const auto byte_level = load_tokenizer(test::tokenizer_path("byte_level.json"));
  EXPECT_EQ(parts(*byte_level, {4, 1}), (Parts{"",
                                               "\uFFFD"
                                               "a",
                                               ""}));
}

TEST(DecodeStream, DoesNotHoldBackTextAfterAnInvalidByte) {
  const auto tokenizer = load_tokenizer(test::tokenizer_path("byte_fallback.json"));
  EXPECT_EQ(parts(*tokenizer, {13, 6, 6, 7, 8, 13}),
            (Parts{"hi", "", "\uFFFD\uFFFD", "\uFFFD", "\uFFFD", " hi", ""}));
  constexpr TokenId kBytes[] = {3, 4, 5, 6, 7, 8};
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    Ids ids = {13, 7};  // a byte that cannot begin a character
    for (int i = 0; i < 20; ++i) ids.push_back(kBytes[random() % std::size(kBytes)]);
    ids.push_back(13);
    const Parts found = parts(*tokenizer, ids);
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), std::string()), tokenizer->decode(ids));
    for (size_t i = 1; i + 2 < found.size(); ++i) EXPECT_EQ(found[i], "\uFFFD") << i;
  }
}

TEST(DecodeStream, KeepsTheLeadingSpaceOfAContinuation) {
  const auto strip = load_tokenizer(test::tokenizer_path("byte_fallback.json"));
  EXPECT_EQ(parts(*strip, {13, 13}), (Parts{"hi", " hi", ""}));
  EXPECT_EQ(parts(*strip, {13, 13}, {.continues = true}), (Parts{" hi", " hi", ""}));
  const auto metaspace = load_tokenizer(test::tokenizer_path("unigram.json"));
  EXPECT_EQ(parts(*metaspace, {5, 5}), (Parts{"a", " a", ""}));
  EXPECT_EQ(parts(*metaspace, {5, 5}, {.continues = true}), (Parts{" a", " a", ""}));
  const auto word_piece = load_tokenizer(test::tokenizer_path("word_piece.json"));
  EXPECT_EQ(parts(*word_piece, {3, 4}, {.continues = true}), (Parts{" play", "ing", ""}));
}

TEST(DecodeStream, IsIndependentOfOtherStreams) {
  const auto tokenizer = load_tokenizer(test::tokenizer_path("byte_level.json"));
  const auto one = tokenizer->stream();
  const auto other = tokenizer->stream();
  EXPECT_EQ(one->push(4), "");
  EXPECT_EQ(other->push(1), "a");
  EXPECT_EQ(one->push(5), "é");
  EXPECT_THROW(one->push(-3), TokenizerError);
}

}  // namespace
}  // namespace vitrine
