// Expected values are those of Hugging Face's tokenizers 0.23.2, which uses Oniguruma, on the same
// patterns and texts.
#include "tokenizers/hugging_face/oniguruma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tokenizers/hugging_face/pre_tokenizer.h"
#include "tokenizers/hugging_face/replacement.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

// `text` with # for each match.
std::string marked(const std::string& pattern, const std::string& text,
                   const char* kind = "Regex") {
  const json step = {{"pattern", {{kind, pattern}}}, {"content", "#"}};
  const JsonDocument document(step.dump(), "the file");
  return Replacement(document.root(), "the file").apply(text);
}

Texts pieces(const std::string& pattern, const std::string& text, const char* behavior,
             bool invert = false) {
  const json step = {{"type", "Split"},
                     {"pattern", {{"Regex", pattern}}},
                     {"behavior", behavior},
                     {"invert", invert}};
  const JsonDocument document(step.dump(), "the file");
  TextPieces all;
  all.push_back({.text = text, .at_start = true});
  read_pre_tokenizer(document.root(), "the file")(all);
  Texts texts;
  for (const TextPiece& piece : all) texts.push_back(piece.text);
  return texts;
}

struct Marked {
  const char* pattern;
  const char* text;
  const char* marked;
};

void expect_marked(const std::vector<Marked>& examples) {
  for (const Marked& example : examples) {
    EXPECT_EQ(marked(example.pattern, example.text), example.marked)
        << example.pattern << " as " << icu_expression(example.pattern, "");
  }
}

TEST(Oniguruma, Repeats) {
  expect_marked({
      {R"(\p{N}{1,3}+)", "1234567", "#"},
      {"a{2}+", "aaaaa", "#a"},
      {"a{2}?", "aaaa", "##"},
      {"a{1,2}?", "aaa", "###"},
      {"a{,2}", "aaaaa", "###"},
      {"a{,2}?b", "aab", "#"},
      {"(?>a{,2})*+b", "aab", "#"},
      {"a?+a", "a", "a"},
      {"a*+a", "a", "a"},
      {"a++a?", "aab", "#b"},
      {"a**", "aaa", "#"},
      {"a+(?#c)?", "aaa", "#"},
      {"a{,}", "a{,}", "#"},
      {"a{1, 2}", "a{1, 2}", "#"},
      {"{", "{", "#"},
      {"a{0}b", "ab", "a#"},
      {"(?:a?)*+b", "aab", "#"},
  });
}

TEST(Oniguruma, Sets) {
  expect_marked({
      {R"(\w+)", "12² a½b① Ⅷ_\u200D", "# #① #\u200D"},
      {R"([\w]+)", "12² a½b①", "#² #½#①"},
      {R"(\W)", "a²\u200D\u0301.", "a²#\u0301#"},
      {R"(\p{Word})", "²", "#"},
      {"[[:punct:]]", "$+<=>^`|~!_a€", "###########a#"},
      {R"(\p{Punct})", "$+<=>^`|~!_a€", "$+<=>^`|~##a€"},
      {R"(\h+)", "xF9g", "x#g"},
      {R"(\H)", "aFgx9\t", "aF##9#"},
      {R"([\h-])", "a-g", "##g"},
      {R"(\p{^L})", "a1", "a#"},
      {R"(\P{^L})", "a1", "#1"},
      {R"([^\p{^L}])", "a1", "#1"},
      {"[[:^alpha:]]", "a1", "a#"},
      {"[[:word:]&&[^_]]+", "ab_1", "#_#"},
      {"[a-w&&[^c-g]z]", "abcdwz", "##cd#z"},
      {"[^a-w&&[^c-g]z]", "abcdwz", "ab##w#"},
      {"[a&&]", "ab", "ab"},
      {"[]a]", "]ab", "##b"},
      {"[a-c-e]", "abcde-", "###d##"},
      {"[--a]", ".-az", "###z"},
      {R"([a\n\x41\x{4e2d}\u6587\b\e])", "aAn中文b", "##n##b"},
      {"[[:alpha]]", "a:b", "##b"},
      {R"(\p{ letter_Number })", "Ⅷ1", "#1"},
      {R"(\p{In_Hiragana})", "aあ", "a#"},
      {R"([\Q])", "Q\\", "#\\"},
      {R"(\s)", "\u0085\u00A0\u2028\u180E\u200B", "###\u180E\u200B"},
      {R"(\R)", "a\r\nb\u2028\v", "a#b##"},
      {R"(\X)", "e\u0301\r\n", "##"},
  });
}

TEST(Oniguruma, LinesAndDots) {
  expect_marked({
      {"^", "a\nb\n", "#a\n#b\n"},
      {"$", "a\nb\n", "a#\nb#\n#"},
      {R"(\Z)", "a\nb\n", "a\nb#\n#"},
      {R"(\z)", "a\n", "a\n#"},
      {R"(\A)", "a\nb", "#a\nb"},
      {".", "a\n\r\u2028", "#\n##"},
      {"(?m:.)", "a\r\n", "###"},
      {"(?m).(?-m:.)", "a\n\nb", "a\n#"},
      {R"(\N\O)", "a\n\nb", "#\nb"},
      {R"(\s+$)", "a \nb ", "a#\nb#"},
  });
}

TEST(Oniguruma, EdgesOfWords) {
  expect_marked({
      {R"(\b)", "ab c", "#ab# #c#"},
      {R"(\B)", "ab c", "a#b c"},
      {R"(\b)", "e\u0301a x\u200Dy", "#e\u0301a# #x#\u200D#y#"},
      {R"(\b)", "²,", "#²#,"},
  });
}

TEST(Oniguruma, GroupsAndOptions) {
  expect_marked({
      {"a(?i)b|c", "aBaC abCc", "## #Cc"},
      {"(a(?i)b|c)d", "aBd aCd Cd", "# # Cd"},
      {"(?i:a(?-i)b)", "aB Ab", "aB #"},
      {"(?x) a b # c\n +", "ab abb", "# #"},
      {R"((?x)a\ [ b])", "a b a  ", "# #"},
      {"(?<n>a)(b)", "ab", "#"},
      {R"((a|b)\1)", "aabba", "##a"},
      {R"((?i)\p{Lu})", "aA", "a#"},
      {R"((?i)[\p{Lu}])", "aA", "##"},
      {"(?i:'s|[^a-z])", "'ſ'S1", "###"},
      {R"(\Qa.\E)", "Qa.Eb", "#b"},
      {R"(\pL)", "pL", "#"},
      {R"(\012\x0a\v)", "\n\n\v", "#"},
  });
}

TEST(Oniguruma, EmptyMatches) {
  expect_marked({
      {"", "ab", "#a#b#"},
      {"x*", "axxb", "#a#b#"},
      {"a|", "ba", "#b#"},
      {"(?=a)a?", "ba", "b#"},
      {"a*?", "aa", "#a#a#"},
  });
  EXPECT_EQ(marked("x*", ""), "");
  EXPECT_EQ(marked("^", ""), "");
  EXPECT_EQ(marked("", "ab", "String"), "#a#b#");
}

TEST(Oniguruma, SplitsAtEmptyMatches) {
  const char* const behaviors[] = {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext",
                                   "Contiguous"};
  for (const char* behavior : behaviors) {
    EXPECT_EQ(pieces("(?<=[a-z])(?=[A-Z])", "theLightOfDay", behavior),
              (Texts{"the", "Light", "Of", "Day"}));
    EXPECT_EQ(pieces(R"(\b)", "the light, of", behavior), (Texts{"the", " ", "light", ", ", "of"}));
    EXPECT_EQ(pieces(R"((?=(\d{3})+(?!\d)))", "1234567", behavior), (Texts{"1", "234", "567"}));
  }
  EXPECT_EQ(pieces(R"(\b)", "the light", "Removed", true), Texts{});
  EXPECT_EQ(pieces("x*", "axxb", "Removed"), (Texts{"a", "b"}));
  EXPECT_EQ(pieces("x*", "axxb", "MergedWithPrevious"), (Texts{"axx", "b"}));
  EXPECT_EQ(pieces("x*", "axxb", "MergedWithPrevious", true), (Texts{"a", "xxb"}));
  EXPECT_EQ(pieces("x*", "axxb", "MergedWithNext"), (Texts{"a", "xxb"}));
  EXPECT_EQ(pieces("x*", "axxb", "MergedWithNext", true), (Texts{"axx", "b"}));
}

std::string refusal_of(const std::string& pattern) {
  try {
    marked(pattern, "a");
  } catch (const TokenizerError& error) {
    return error.what();
  }
  return "";
}

TEST(Oniguruma, RefusesByNameWhatIcuDoesNotHave) {
  EXPECT_EQ(refusal_of("(a)?(?(1)b|c)"),
            "the file: the pattern is not supported: \"(?(\", before its byte 7");
  for (const char* construct : {"(?~",
                                "(?{",
                                "(?W",
                                "(?y",
                                "(*",
                                R"(\K)",
                                R"(\G)",
                                R"(\y)",
                                R"(\k)",
                                R"(\g)",
                                R"(\c)",
                                R"(\C)",
                                R"(\M)",
                                R"(\o{)",
                                R"(\xE4)",
                                R"(\x{110000})",
                                R"(\x{D800})",
                                R"(\u12)",
                                R"(\12)",
                                "{3,2}",
                                "{100001}",
                                R"(\p{Nonsense})",
                                "[[:nonsense:]",
                                "[b-a"}) {
    EXPECT_THAT(refusal_of("a" + std::string(construct) + ")]"),
                testing::HasSubstr("\"" + std::string(construct)));
  }
  EXPECT_THAT(refusal_of("(?<=a+)b"), testing::HasSubstr("look-behind without a longest match"));
  EXPECT_THAT(refusal_of("(?<!a{2,})b"), testing::HasSubstr("look-behind without a longest match"));
  EXPECT_THAT(refusal_of("(?i)[a-z&&[b]]"), testing::HasSubstr("case is ignored"));
  EXPECT_THAT(refusal_of(R"((?i)[\P{Lu}])"), testing::HasSubstr("case is ignored"));
  EXPECT_THAT(refusal_of(R"((?<n>a)(b)\1)"), testing::HasSubstr("beside named groups"));
  EXPECT_THAT(refusal_of("^*"), testing::HasSubstr("\"*\" with nothing to repeat"));
  EXPECT_THAT(refusal_of("[]"), testing::HasSubstr("an empty class"));
  EXPECT_THAT(refusal_of("a)"), testing::HasSubstr("a ) without its ("));
  EXPECT_THAT(refusal_of("[a"), testing::HasSubstr("ends too early"));
  EXPECT_THAT(refusal_of("a\\"), testing::HasSubstr("ends too early"));
}

TEST(Oniguruma, BoundsWhatAPatternCosts) {
  std::string classes;
  for (int i = 0; i < 1000; ++i) classes += "[a";
  EXPECT_THAT(refusal_of(classes), testing::HasSubstr("nested this deep"));
  std::string repeats = "a";
  for (int i = 0; i < 30'000; ++i) repeats += "{2}";
  EXPECT_THAT(refusal_of(repeats), testing::HasSubstr("too long"));
  EXPECT_THAT(refusal_of(std::string(100'000, 'a')), testing::HasSubstr("too long"));
}

}  // namespace
}  // namespace vitrine::hugging_face
