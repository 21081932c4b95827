#include "tokenizers/unicode.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "tokenizers/pattern.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

// Table 3-8 of the Unicode standard, and others of its chapter.
TEST(WellFormed, ReplacesTheLongestRunsThatCouldBeginACharacter) {
  EXPECT_EQ(well_formed("a\xF1\x80\x80\xE1\x80\xC2"
                        "b\x80"
                        "c\x80\xBF"
                        "d"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(well_formed("\xC0\xAF"), "\uFFFD\uFFFD");
  EXPECT_EQ(well_formed("\xF4\x91\x92\x93\xFF"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(well_formed(std::string("a\0b", 3)), std::string("a\0b", 3));
}

TEST(WellFormed, RefusesTextsOfMoreThan256MiB) {
  constexpr size_t kTooMany = (size_t{256} << 20) + 1;
  void* const memory = ::mmap(nullptr, kTooMany, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  try {
    well_formed({static_cast<const char*>(memory), kTooMany});
    ADD_FAILURE() << "not refused";
  } catch (const TokenizerError& error) {
    EXPECT_STREQ(error.what(), "a text of 268435457 bytes is longer than the 268435456 accepted");
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

// The buffer is on the heap from the long text on, where AddressSanitizer sees what is read before
// it.
TEST(CharacterStream, ALoneContinuationByteIsReplaced) {
  CharacterStream stream;
  const std::string text(100, 'a');
  EXPECT_EQ(stream.push(text), text);
  EXPECT_EQ(stream.push("\x80"), "\uFFFD");
}

std::vector<std::string> matches(const std::string& expression, const std::string& text) {
  std::vector<std::string> found;
  Pattern(expression, "here").each_match(text, [&](size_t begin, size_t end) {
    found.push_back(text.substr(begin, end - begin));
  });
  return found;
}

using Matches = std::vector<std::string>;

TEST(Pattern, CountsInBytes) {
  EXPECT_EQ(matches(R"(\p{L}+|\s+(?!\S)|.)", "é\U0001F600  ab"),
            (Matches{"é", "\U0001F600", " ", " ", "ab"}));
}

TEST(Pattern, KnowsWhatFilesAreWrittenWith) {
  EXPECT_EQ(matches("[\\p{L}&&[^a]]+", "xay"), (Matches{"x", "y"}));
  EXPECT_EQ(matches("(?i:'s)", "'S'ſ"), (Matches{"'S", "'ſ"}));
  EXPECT_EQ(matches("\\s", "\u0085\u00A0\u2028\u3000\u180E\u200B").size(), 4U);
  EXPECT_EQ(matches("\\p{N}{1,3}", "12345٣"), (Matches{"123", "45٣"}));
}

TEST(Pattern, NamesWhatIsWrong) {
  try {
    Pattern("a(b", "file.json: pre_tokenizer");
    FAIL();
  } catch (const TokenizerError& error) {
    EXPECT_STREQ(
        error.what(),
        "file.json: pre_tokenizer: is not a pattern: U_REGEX_MISMATCHED_PAREN at character 3");
  }
}

TEST(Pattern, GivesUpWhereItExplodes) {
  const Pattern pattern("(a|aa)+$", "here");
  const auto ignore = [](size_t, size_t) {};
  EXPECT_THROW(pattern.each_match(std::string(100, 'a') + "b", ignore), TokenizerError);
  EXPECT_THROW(Pattern("(.|\\n)*x", "here").each_match(std::string(3'000'000, 'a'), ignore),
               TokenizerError);
}

TEST(Normalized, HasTheFourForms) {
  EXPECT_EQ(normalized("e\u0301ﬁ", NormalForm::kNfc), "éﬁ");
  EXPECT_EQ(normalized("é", NormalForm::kNfd), "e\u0301");
  EXPECT_EQ(normalized("ﬁ①", NormalForm::kNfkc), "fi1");
  EXPECT_EQ(normalized("½", NormalForm::kNfkd), "1\u20442");
  EXPECT_EQ(lower_case("ÀΣİ"), "àσi\u0307");
}

}  // namespace
}  // namespace vitrine
