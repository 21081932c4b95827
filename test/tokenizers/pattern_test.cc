// Tests the patterns that split texts. The expected matches of HuggingFacePattern are from Hugging
// Face's tokenizers 0.23.2, which uses Oniguruma.
#include "tokenizers/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "test/support/results.h"
#include "tokenizers/hugging_face/pre_tokenizer.h"
#include "tokenizers/hugging_face/replacement.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

// Returns `text` with # in place of each match.
std::string marked(const std::string& pattern, const std::string& text,
                   const char* kind = "Regex") {
  const json step = {{"pattern", {{kind, pattern}}}, {"content", "#"}};
  const JsonDocument document(step.dump(), "the file");
  TextBudget budget("the file", text.size());
  return Replacement(document.root(), "the file").apply(text, budget);
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
  TextBudget budget("the file", text.size());
  read_pre_tokenizer(document.root(), "the file")(all, budget);
  Texts texts;
  for (const TextPiece& piece : all) texts.push_back(piece.text);
  return texts;
}

struct Marked {
  const char* pattern;
  const char* text;
  const char* marked;
};

const Marked kMarked[] = {
    // Repetitions
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
    // Character sets
    {R"(\w+)", "12² a½b① Ⅷ_\u200D", "# #① #\u200D"},
    {R"([\w]+)", "12² a½b①", "#² #½#①"},
    {R"(\W)", "a²\u200D\u0301.", "a²#\u0301#"},
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
    // Line starts, line ends and dots
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
    // Word boundaries
    {R"(\b)", "ab c", "#ab# #c#"},
    {R"(\B)", "ab c", "a#b c"},
    {R"(\b)", "e\u0301a x\u200Dy", "#e\u0301a# #x#\u200D#y#"},
    {R"(\b)", "²,", "#²#,"},
    // Groups and options
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
    // Empty matches
    {"", "ab", "#a#b#"},
    {"x*", "axxb", "#a#b#"},
    {"a|", "ba", "#b#"},
    {"(?=a)a?", "ba", "b#"},
    {"a*?", "aa", "#a#a#"},
};

TEST(HuggingFacePattern, MatchesTheReference) {
  for (const Marked& example : kMarked) {
    EXPECT_EQ(marked(example.pattern, example.text), example.marked) << example.pattern;
  }
  EXPECT_EQ(marked("x*", ""), "");
  EXPECT_EQ(marked("^", ""), "");
  EXPECT_EQ(marked("", "ab", "String"), "#a#b#");
}

TEST(HuggingFacePattern, SplitsAtEmptyMatches) {
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
  return test::thrown<TokenizerError>(
      [&] { Pattern(pattern, PatternSyntax::kHuggingFace, "the file"); });
}

constexpr const char* kNotSupported = "the file: the regular expression is not supported: ";

TEST(HuggingFacePattern, RejectsMalformedExpressions) {
  EXPECT_EQ(refusal_of("a(b"),
            std::string(kNotSupported) + "end pattern with unmatched parenthesis");
  for (const char* malformed : {"^*", "[]", "a)", "[a", "a\\", "[b-a", "(?W", "(?{x})", "(*FAIL)",
                                "(?~a)", R"(\p{Nonsense})", "[[:nonsense:]]"}) {
    EXPECT_THAT(refusal_of(malformed), testing::StartsWith(kNotSupported)) << malformed;
  }
  EXPECT_EQ(refusal_of("\xFF"), "the file: the regular expression is not UTF-8");
}

TEST(HuggingFacePattern, RejectsUnsupportedConstructs) {
  for (const char* construct :
       {R"(\K)", R"(\G)", R"(\g)", R"(\y)", R"(\Y)", R"(\c)", R"(\C)", R"(\M)"}) {
    EXPECT_EQ(refusal_of("a" + std::string(construct) + "<b>"),
              std::string(kNotSupported) + "\"" + construct + "\"");
  }
}

struct Costly {
  const char* pattern;
  const char* reason;  // null: accepted
};

constexpr const char* kRepeatedLook = "a repeat of \\X or of a look-around that scans the text";
constexpr const char* kCounts = "more than 100000 counted repetitions of items in total";
constexpr const char* kCountsInLoop = "more than 100 counted repetitions of an item within a loop";

const Costly kCostly[] = {
    {"(?:(?=a*+)a)*", kRepeatedLook},
    {"(?:(?!a+b)a){2}", kRepeatedLook},
    {"(?:(?<=a*)b)+", kRepeatedLook},
    {R"((a*)(?:(?=\1)a)*)", kRepeatedLook},
    {R"((?<n>a*)(?:(?=\k<n>)a)*)", kRepeatedLook},
    {"(?:(?=a{101})a)*", kRepeatedLook},
    // In these patterns, some characters before the look-around look like the end of a group or
    // class.
    {"(?:[])](?=a*+)a)*", kRepeatedLook},
    {"(?:[^])](?=a*+)a)*", kRepeatedLook},
    {"(?:[[)]](?=a*+)a)*", kRepeatedLook},
    {"(?:[[:alpha:])](?=a*+)a)*", kRepeatedLook},
    {R"((?:\)(?=a*+)a)*)", kRepeatedLook},
    {R"((?:[\])](?=a*+)a)*)", kRepeatedLook},
    {"(?:(?#\\))(?=a*+)a)*", kRepeatedLook},
    {"(?x:(?: #)\n (?=a*+)a)* )", kRepeatedLook},
    {"(?:(?x) #)\n (?=a*+)a\n)*", kRepeatedLook},
    {"(?:[[:)]](?=a*+)a:])*", "\"[:\""},
    {R"(\X+)", kRepeatedLook},
    {R"(\X)", nullptr},
    {"(?:(?:a{100}){100}){100}", kCounts},
    {"(?:(?=a){1000}){1000}", kCounts},
    {"(?>|a){60000}b(?>|a){60000}", kCounts},
    {"(?:(?>|x){101}a)*+b", kCountsInLoop},
    {"(?:(?>|x){100}a)*+b{100,}", nullptr},
    {"a{100001}", kCounts},
    {"a{2}{2}{2}{2}{2}{2}{2}{2}{2}", "too many quantifiers for one item"},
    {"(?:(?=a)a)*", nullptr},
    {R"((?=(\d{3})+(?!\d)))", nullptr},
    {R"(\s+(?!\S))", nullptr},
    {"(?x:(?: #(?=a*+)\n a)* )", nullptr},
    {"(?:#)(?=a*+)b", nullptr},
    {"a{100000}", nullptr},
    {"a{,}{x}{1, 2}", nullptr},
};

TEST(HuggingFacePattern, RejectsRepetitionsThatNeedUnlimitedTime) {
  for (const Costly& row : kCostly) {
    EXPECT_EQ(refusal_of(row.pattern),
              row.reason == nullptr ? "" : std::string(kNotSupported) + row.reason)
        << row.pattern;
  }
}

TEST(HuggingFacePattern, LimitsTheSizeOfExpressions) {
  const auto repeated = [](const char* text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  EXPECT_THAT(refusal_of(repeated("[a", 1000)), testing::HasSubstr("classes that are nested"));
  EXPECT_THAT(refusal_of(repeated("(?:", 1000)), testing::HasSubstr("groups that are nested"));
  EXPECT_THAT(refusal_of(repeated("()", 1001)), testing::HasSubstr("more than 1000 groups"));
  EXPECT_THAT(refusal_of(repeated("(?=a*+)", 3)), testing::HasSubstr("more than 2 look-arounds"));
  EXPECT_THAT(refusal_of(repeated("a", 100'000)),
              testing::HasSubstr("it has 100000 bytes; at most 65536 are accepted"));
}

Texts matches(const std::string& expression, const std::string& text, PatternSyntax syntax) {
  Texts found;
  TextBudget budget("here", text.size());
  Pattern(expression, syntax, "here").each_match(text, budget, [&](size_t begin, size_t end) {
    found.push_back(text.substr(begin, end - begin));
  });
  return found;
}

Texts tiktoken_matches(const std::string& expression, const std::string& text) {
  return matches(expression, text, PatternSyntax::kTiktoken);
}

TEST(TiktokenPattern, ReturnsByteRanges) {
  EXPECT_EQ(tiktoken_matches(R"(\p{L}+|\s+(?!\S)|.)", "é\U0001F600  ab"),
            (Texts{"é", "\U0001F600", " ", " ", "ab"}));
}

// The expected matches are those of fancy-regex, the engine of tiktoken.
TEST(TiktokenPattern, MatchesTheReference) {
  EXPECT_EQ(tiktoken_matches("[\\p{L}&&[^a]]+", "xay"), (Texts{"x", "y"}));
  EXPECT_EQ(tiktoken_matches("(?i:'s)", "'S'ſ"), (Texts{"'S", "'ſ"}));
  EXPECT_EQ(tiktoken_matches("\\s", "\u0085\u00A0\u2028\u3000\u180E\u200B").size(), 4U);
  EXPECT_EQ(tiktoken_matches("\\p{N}{1,3}", "12345٣"), (Texts{"123", "45٣"}));
  EXPECT_EQ(tiktoken_matches("\\p{N}{1,3}+", "1234567"), (Texts{"123", "456", "7"}));
  EXPECT_EQ(tiktoken_matches("a{1,2}+a", "aaa"), (Texts{"aaa"}));
  EXPECT_EQ(tiktoken_matches("a{1,2}+a", "aa"), Texts{});
  EXPECT_EQ(tiktoken_matches("a++a|a?+b", "aaab"), (Texts{"ab"}));
  EXPECT_EQ(tiktoken_matches("^a|b$", "a\na\nb\nb"), (Texts{"a", "b"}));
  EXPECT_EQ(tiktoken_matches("(?s:a.)|b.", "a\nb\n"), (Texts{"a\n"}));
  EXPECT_EQ(tiktoken_matches(R"(\p{Lu}\p{Ll}|\p{Han}+|\x{41})", "Éé日本A"),
            (Texts{"Éé", "日本", "A"}));
}

void expect_refused(const std::string& expression, const std::string& text) {
  EXPECT_THROW(matches(expression, text, PatternSyntax::kHuggingFace), TokenizerError)
      << expression;
}

TEST(HuggingFacePattern, StopsWhenAMatchTakesTooLong) {
  const std::string as = std::string(40'000, 'a') + "dbc";
  expect_refused("(a|aa)+$", std::string(100, 'a') + "b");
  expect_refused("(a|a|b){30}c", as);
  // The next two patterns take quadratic time, although the matcher rarely backtracks.
  expect_refused("a*+[bc]", as);
  expect_refused("(?:a*+[bc]|a)*[bc]", as);
  // This match exceeds the limit on Oniguruma's stack.
  expect_refused("(.|\\n)*x", "x" + std::string(3'000'000, 'a'));
}

// The matcher first backtracks often and quickly. Later, each backtrack takes a long time.
TEST(HuggingFacePattern, StopsInTimeIfRetriesBecomeSlow) {
  const std::string text = std::string(700, 'x') + std::string((256 << 10) - 703, 'a') + "dbc";
  const uint64_t begin_ns = platform::thread_cpu_ns();
  expect_refused(R"((?:(?:x|y)*(?:x|y)*z|x*+(?:(?i:[a\x{100}])*+[bc]|a)*[bc]))", text);
  // The limit is large enough for sanitizers on a busy machine.
  EXPECT_LT(platform::thread_cpu_ns() - begin_ns, 10'000'000'000U);
}

TEST(HuggingFacePattern, SearchesLongTexts) {
  const std::string spaces(50'000, ' ');
  EXPECT_EQ(matches(R"(\s*[\r\n]+|\s+(?!\S)|\s+)", spaces + "x", PatternSyntax::kHuggingFace),
            (Texts{spaces.substr(1), " "}));
  EXPECT_EQ(matches("x", std::string(1'000'000, 'a') + "x", PatternSyntax::kHuggingFace),
            Texts{"x"});
}

}  // namespace
}  // namespace vitrine::hugging_face
