#include "tokenizers/unicode.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

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
  try {
    well_formed({static_cast<const char*>(memory), kTooMany});
    ADD_FAILURE() << "the text was not rejected";
  } catch (const TokenizerError& error) {
    EXPECT_STREQ(error.what(), "a text has 268435457 bytes; at most 268435456 are accepted");
  }
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

}  // namespace
}  // namespace vitrine
