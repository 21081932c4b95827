#include "tokenizers/unicode.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <numeric>
#include <random>

#include "test/tokenizers/small_files.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using Ids = std::vector<TokenId>;

// Examples from chapter 3 of the Unicode standard, including table 3-8.
TEST(WellFormed, ReplacesTheLongestInvalidSequencesThatCouldBeginACharacter) {
  EXPECT_EQ(well_formed("a\xF1\x80\x80\xE1\x80\xC2"
                        "b\x80"
                        "c\x80\xBF"
                        "d"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(well_formed("\xC0\xAF"), "\uFFFD\uFFFD");
  EXPECT_EQ(well_formed("\xF4\x91\x92\x93\xFF"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(well_formed(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(WellFormed, RejectsTextsOfMoreThan256MiB) {
  constexpr size_t kTooMany = (size_t{256} << 20) + 1;
  void* const memory = ::mmap(nullptr, kTooMany, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_THAT(
      [&] {
        well_formed({static_cast<const char*>(memory), kTooMany});
      },
      testing::ThrowsMessage<TokenizerError>(
          "a text has 268435457 bytes; at most 268435456 are accepted"));
  ::munmap(memory, kTooMany);
}

TEST(CharacterStream, WaitsForTheRestOfACharacter) {
  CharacterStream stream;
  EXPECT_EQ(stream.push("\xF0\x9F"), "");
  EXPECT_EQ(stream.push("\x98"), "");
  EXPECT_EQ(stream.push("\x80!"), "\U0001F600!");
  EXPECT_EQ(stream.push("\xE2\x82"), "");
  EXPECT_EQ(stream.push("x"), "\uFFFDx");
  EXPECT_EQ(stream.push("\xE2\x82"), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
  CharacterStream by_byte(Faults::kByByte);
  EXPECT_EQ(by_byte.push("\xE2\x82"), "");
  EXPECT_EQ(by_byte.push("x"), "\uFFFD\uFFFDx");
}

// A long text moves the stream's buffer to the heap, where AddressSanitizer detects reads before
// the buffer.
TEST(CharacterStream, ReplacesAContinuationByteWithoutALeadByte) {
  CharacterStream stream;
  const std::string text(100, 'a');
  EXPECT_EQ(stream.push(text), text);
  EXPECT_EQ(stream.push("\x80"), "\uFFFD");
}

TEST(SortingSteps, GrowQuadraticallyWithTheNumberOfConsecutiveMarks) {
  EXPECT_EQ(sorting_steps("plain text, \u00E9"), 0U);
  std::string marks;
  for (int i = 0; i < 1600; ++i) marks += "\u0301";
  EXPECT_EQ(sorting_steps(marks), 79'300U);
  EXPECT_EQ(sorting_steps(marks + "a" + marks), 158'600U);
}

TEST(Normalized, SupportsAllFourUnicodeForms) {
  EXPECT_EQ(normalized("e\u0301ﬁ", NormalForm::kNfc), "éﬁ");
  EXPECT_EQ(normalized("é", NormalForm::kNfd), "e\u0301");
  EXPECT_EQ(normalized("ﬁ①", NormalForm::kNfkc), "fi1");
  EXPECT_EQ(normalized("½", NormalForm::kNfkd), "1\u20442");
  EXPECT_EQ(lower_case("ÀΣİ"), "àσi\u0307");
}

// U+FDFA becomes 18 characters.
TEST(Normalized, AcceptsCharactersBeyond16BitsAndTextsThatGetLonger) {
  std::string text, expected;
  for (int i = 0; i < 100; ++i) {
    text += "\uFDFA";
    expected += "صلى الله عليه وسلم";
  }
  EXPECT_EQ(normalized(text, NormalForm::kNfkd), expected);
  EXPECT_EQ(normalized("\U0001D15E\U0001F600", NormalForm::kNfd), "\U0001D157\U0001D165\U0001F600");
  EXPECT_EQ(normalized("\U0001D49C", NormalForm::kNfkc), "A");
}

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
