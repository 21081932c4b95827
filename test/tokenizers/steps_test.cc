// Tests each step of a tokenizer.json separately. Expected results are those of Hugging Face's
// tokenizers 0.23.2 for the same step.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;
using Pieces = std::vector<std::string>;

// Returns a tokenizer with one step and the vocabulary `words`.
std::unique_ptr<Tokenizer> with_step(const char* key, const char* step, const Pieces& words) {
  json vocabulary = {{"<unk>", 0}};
  for (const std::string& word : words) vocabulary.emplace(word, vocabulary.size());
  const json file = {
      {key, json::parse(step)},
      {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "<unk>"}}}};
  return parse_tokenizer(file.dump(), "the file");
}

Pieces tokens_of(const Tokenizer& tokenizer, std::string_view text) {
  Pieces tokens;
  for (const TokenId id : tokenizer.encode(text)) tokens.push_back(tokenizer.token(id).value());
  return tokens;
}

Ids ids_of(const Tokenizer& tokenizer, const Pieces& tokens) {
  Ids ids;
  for (const std::string& token : tokens) ids.push_back(tokenizer.id_of(token).value());
  return ids;
}

constexpr const char* kScripts = R"({"type":"UnicodeScripts"})";

struct Split {
  const char* step;
  const char* text;
  Pieces pieces;
};

const Split kSplits[] = {
    {kScripts, "どこで生れ。Yes", {"どこで生れ", "。", "Yes"}},
    {kScripts, "Apples are りんご 林檎", {"Apples are ", "りんご 林檎"}},
    {kScripts, "  two  spaces ", {"two  spaces "}},
    {kScripts, "   ", {}},
    {kScripts, "タワー9", {"タワー", "9"}},
    {kScripts, "1\u05892", {"1\u05892"}},
    {kScripts, "\u0661\u061C2", {"\u0661", "\u061C2"}},
    {kScripts, "\u0915\u0953", {"\u0915\u0953"}},
    {kScripts, "a\u0301бв", {"a", "\u0301", "бв"}},
    {kScripts, "a\tb", {"a", "\t", "b"}},
    // The next three texts have a character of Unicode 9, one of Unicode 10, and one for private
    // use.
    {kScripts, "a\U0001E900b", {"a", "\U0001E900", "b"}},
    {kScripts, "a\U00011D00b", {"a\U00011D00b"}},
    {kScripts, "\uE000a", {"a"}},
    {R"({"type":"CharDelimiterSplit","delimiter":"-"})", "a-b--c", {"a", "b", "c"}},
    {R"({"type":"CharDelimiterSplit","delimiter":"-"})", "-", {}},
    {R"({"type":"CharDelimiterSplit","delimiter":"語"})", "日語本", {"日", "本"}},
    {R"({"type":"FixedLength","length":2})", "abcde", {"ab", "cd", "e"}},
    {R"({"type":"FixedLength","length":2})", "é日本", {"é日", "本"}},
    {R"({"type":"FixedLength"})", "abcdefg", {"abcde", "fg"}},
    {R"({"type":"Split","pattern":{"String":"-"},"behavior":"Removed","invert":true})",
     "a-b--",
     {"-", "-", "-"}},
    {R"({"type":"Split","pattern":{"String":"-"},"behavior":"MergedWithPrevious","invert":false})",
     "a-b--c-",
     {"a-", "b-", "-", "c-"}},
    {R"({"type":"Split","pattern":{"String":"-"},"behavior":"MergedWithPrevious","invert":true})",
     "a-b--c-",
     {"a", "-b", "-", "-c", "-"}},
    {R"({"type":"Split","pattern":{"String":"-"},"behavior":"MergedWithNext","invert":false})",
     "a-b--c-",
     {"a", "-b", "-", "-c", "-"}},
    {R"({"type":"Split","pattern":{"String":"-"},"behavior":"Contiguous","invert":true})",
     "a-b--c-",
     {"a", "-", "b", "--", "c", "-"}},
    {R"({"type":"Punctuation","behavior":"Removed"})", "Hey, you?!", {"Hey", " you"}},
    {R"({"type":"Punctuation","behavior":"MergedWithNext"})",
     "Hey, you?!",
     {"Hey", ", you", "?", "!"}},
    {R"({"type":"Punctuation","behavior":"Contiguous"})", "Hey, you?!", {"Hey", ",", " you", "?!"}},
    {R"({"type":"Digits","individual_digits":true})", "a12Ⅻ", {"a", "1", "2", "Ⅻ"}},
    {R"({"type":"Digits","individual_digits":false})", "a12Ⅻb", {"a", "12Ⅻ", "b"}},
    {R"({"type":"ByteLevel","add_prefix_space":true,"trim_offsets":false,"use_regex":false})",
     "a é",
     {"ĠaĠÃ©"}},
    {R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true})", "a é", {"a", "ĠÃ©"}},
    {R"({"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},
        {"type":"Metaspace","replacement":"_","prepend_scheme":"always"}]})",
     "a b",
     {"_a", "_b"}},
    {R"({"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},
        {"type":"Metaspace","replacement":"_","prepend_scheme":"first"}]})",
     "a b",
     {"_a", "b"}},
    {R"({"type":"Metaspace","replacement":"_","prepend_scheme":"never","split":false})",
     "a b",
     {"a_b"}},
    {R"({"type":"BertPreTokenizer"})", "Hey you: 日本", {"Hey", "you", ":", "日本"}},
};

TEST(TokenizerSteps, PreTokenizersMatchTheReference) {
  for (const Split& split : kSplits) {
    const auto tokenizer = with_step("pre_tokenizer", split.step, split.pieces);
    EXPECT_EQ(tokens_of(*tokenizer, split.text), split.pieces) << split.step << split.text;
  }
}

TEST(TokenizerSteps, TemplateSurroundsTokensOfEarlierSteps) {
  const auto tokenizer = with_step("post_processor", R"({"type":"Sequence","processors":[
      {"type":"BertProcessing","cls":["C",2],"sep":["S",3]},
      {"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},
      {"type":"TemplateProcessing",
       "single":[{"SpecialToken":{"id":"X","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
                 {"SpecialToken":{"id":"Y","type_id":0}}],
       "pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":1}}],
       "special_tokens":{"X":{"id":"X","ids":[4],"tokens":["X"]},
                         "Y":{"id":"Y","ids":[5],"tokens":["Y"]}}}]})",
                                   {"a", "C", "S", "X", "Y"});
  EXPECT_EQ(tokenizer->encode("a", {.add_template = true}), (Ids{4, 2, 1, 3, 5}));
}

struct Rewriting {
  const char* step;
  const char* text;
  const char* normalized;
};

const Rewriting kRewritings[] = {
    {R"({"type":"Nmt"})", "a\tb\nc\fd\re", "a b c d e"},
    {R"({"type":"Nmt"})", "\uFEFFf\u200Bg\u2028i\u2581j\u1680k\uFFFDl", " f g i j k l"},
    {R"({"type":"BertNormalizer","clean_text":false,"handle_chinese_chars":false,
        "strip_accents":null,"lowercase":false})",
     "É\t日", "É\t日"},
    {R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,
        "strip_accents":false,"lowercase":true})",
     "É\t日\u200B", "é  日 "},
    {R"({"type":"BertNormalizer","clean_text":false,"handle_chinese_chars":false,
        "strip_accents":null,"lowercase":true})",
     "É\t日", "e\t日"},
    {R"({"type":"Strip","strip_left":true,"strip_right":false})", " a ", "a "},
    {R"({"type":"Strip","strip_left":false,"strip_right":true})", " a ", " a"},
    {R"({"type":"Replace","pattern":{"Regex":"a+"},"content":"x"})", "aaba", "xbx"},
};

TEST(TokenizerSteps, NormalizersMatchTheReference) {
  for (const Rewriting& row : kRewritings) {
    const auto tokenizer = with_step("normalizer", row.step, {row.normalized});
    EXPECT_EQ(tokens_of(*tokenizer, row.text), Pieces{row.normalized}) << row.step << row.text;
  }
}

// Hugging Face's Nmt removes the characters in `dropped` and replaces those in `spaces` with a
// space. It keeps all other characters of Unicode.
TEST(TokenizerSteps, NmtChangesOnlyTheListedCharacters) {
  const std::u32string_view dropped =
      U"\x01\x02\x03\x04\x05\x06\x07\x08\x0B\x0E\x0F\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1A"
      U"\x1B\x1C\x1D\x1E\x1F\x7F\x8F\x9F";
  const std::u32string_view spaces =
      U" \x09\x0A\x0C\x0D\u1680\u200B\u200C\u200D\u200E\u200F\u2028\u2029\u2581\uFEFF\uFFFD";
  const auto tokenizer = with_step("normalizer", R"({"type":"Nmt"})", {"ab", "a b"});
  for (char32_t c = 0; c < 0x10000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;  // surrogates
    std::string text = "a";
    append_character(text, c);
    text += 'b';
    const bool is_dropped = dropped.find(c) != std::u32string_view::npos;
    const bool is_space = spaces.find(c) != std::u32string_view::npos;
    const TokenId expected = is_dropped ? 1 : is_space ? 2 : 0;
    ASSERT_EQ(tokenizer->encode(text), Ids{expected}) << static_cast<int>(c);
  }
}

struct Decoding {
  const char* step;
  Pieces tokens;
  const char* text;
};

constexpr const char* kCtc =
    R"({"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":true})";

const Decoding kDecodings[] = {
    {kCtc, {"<pad>", "h", "e", "e", "l", "l", "<pad>", "l", "o", "o", "<pad>"}, "hello"},
    {kCtc, {"a", "|", "|", "<pad>", "|", "b", "b", "|", "<pad>"}, "a  b "},
    {kCtc, {"a", "<pad>b", "b", " .", " .", "do", " do not", "x|y"}, "abb.do don'tx y"},
    {R"({"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":false})",
     {"a", "a", "|", "<pad>", "b", " ."},
     "a|b ."},
    {R"({"type":"BPEDecoder","suffix":"</w>"})", {"he", "llo</w>", "you</w>"}, "hello you"},
    {R"({"type":"BPEDecoder","suffix":"</w>"})", {"a</w>b", "</w>", "c</w></w>"}, "a b c"},
    {R"({"type":"WordPiece","prefix":"##","cleanup":true})",
     {"##play", "##ing", ",", "do", "not", "?"},
     "##playing, do not?"},
    {R"({"type":"WordPiece","prefix":"##","cleanup":false})", {"play", "##ing", ","}, "playing ,"},
    {R"({"type":"Strip","content":"_","start":1,"stop":2})", {"__a__", "_b", "c___"}, "_abc_"},
};

TEST(TokenizerSteps, DecodersMatchTheReference) {
  for (const Decoding& row : kDecodings) {
    SCOPED_TRACE(row.step);
    const auto tokenizer = with_step("decoder", row.step, row.tokens);
    const Ids ids = ids_of(*tokenizer, row.tokens);
    EXPECT_EQ(tokenizer->decode(ids), row.text);
    const auto stream = tokenizer->stream();
    std::string streamed;
    for (const TokenId id : ids) streamed += stream->push(id);
    EXPECT_EQ(streamed + stream->finish(), row.text);
  }
}

// In these cases, Fuse or another decoder that joins tokens precedes another decoder.
const Decoding kJoined[] = {
    {R"([{"type":"Fuse"},{"type":"BPEDecoder","suffix":"</w>"}])",
     {"he", "llo</w>", "you</w>"},
     "helloyou"},
    {R"([{"type":"Fuse"},{"type":"Replace","pattern":{"String":"_a"},"content":"x"}])",
     {"b", "_", "a", "_a"},
     "bxx"},
    {R"([{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},
         {"type":"Metaspace","replacement":"b","prepend_scheme":"always"}])",
     {"Ġa", "bĠ", "b"},
     " a "},
};

TEST(TokenizerSteps, DecodersTreatJoinedTokensAsOneToken) {
  for (const Decoding& row : kJoined) {
    const std::string step = std::string(R"({"type":"Sequence","decoders":)") + row.step + "}";
    const auto tokenizer = with_step("decoder", step.c_str(), row.tokens);
    EXPECT_EQ(tokenizer->decode(ids_of(*tokenizer, row.tokens)), row.text) << row.step;
  }
}

TEST(TokenizerSteps, StreamsReturnTextAsSoonAsItIsFinal) {
  const auto parts = [](const char* step, const Pieces& tokens) {
    const auto tokenizer = with_step("decoder", step, tokens);
    const auto stream = tokenizer->stream();
    Pieces found;
    for (const TokenId id : ids_of(*tokenizer, tokens)) found.push_back(stream->push(id));
    found.push_back(stream->finish());
    return found;
  };
  EXPECT_EQ(parts(kCtc, {"h", "h", "<pad>", "h", "|", "|", "i"}),
            (Pieces{"h", "", "", "h", " ", "", "i", ""}));
  EXPECT_EQ(parts(R"({"type":"BPEDecoder","suffix":"</w>"})", {"he", "llo</w>", "you</w>"}),
            (Pieces{"he", "llo", " you", ""}));
}

TEST(TokenizerSteps, BpeDecoderPutsASpaceBeforeAContinuation) {
  const auto tokenizer = with_step("decoder", R"({"type":"BPEDecoder","suffix":"</w>"})",
                                   {"he", "llo</w>", "you</w>"});
  EXPECT_EQ(tokenizer->decode(Ids{1, 2}) + tokenizer->decode(Ids{3}, {.continues = true}),
            tokenizer->decode(Ids{1, 2, 3}));
}

TEST(TokenizerSteps, CtcDecoderSkipsSpecialTokensBeforeMergingRepeats) {
  json file = {
      {"decoder", json::parse(kCtc)},
      {"added_tokens", {{{"id", 1}, {"content", "<pad>"}, {"special", true}}}},
      {"model", {{"type", "WordLevel"}, {"vocab", {{"l", 0}, {"<pad>", 1}}}, {"unk_token", "l"}}}};
  const auto tokenizer = parse_tokenizer(file.dump(), "the file");
  EXPECT_EQ(tokenizer->decode(Ids{0, 1, 0}), "l");
  EXPECT_EQ(tokenizer->decode(Ids{0, 1, 0}, {.skip_special = false}), "ll");
}

TEST(TokenizerSteps, WordLevelEncodesWords) {
  json file = {{"model",
                {{"type", "WordLevel"},
                 {"vocab", {{"a b", 0}, {"a", 1}, {"[UNK]", 2}}},
                 {"unk_token", "[UNK]"}}}};
  const auto tokenizer = parse_tokenizer(file.dump(), "the file");
  EXPECT_EQ(tokenizer->form(), "Hugging Face WordLevel");
  EXPECT_EQ(tokenizer->encode("a b"), Ids{0});
  EXPECT_EQ(tokenizer->encode("a bb"), Ids{2});
  EXPECT_EQ(tokenizer->encode(""), Ids{});
  file["model"]["unk_token"] = "<unk>";
  const auto without_unknown = parse_tokenizer(file.dump(), "the file");
  EXPECT_EQ(without_unknown->encode("a"), Ids{1});
  EXPECT_THROW(without_unknown->encode("b"), TokenizerError);
}

TEST(TokenizerSteps, BpeByteFallbackIncludesPrefixesAndSuffixes) {
  json vocabulary = {{"<unk>", 0}, {"a", 1}};
  for (const char* byte : {"23", "C3", "A9", "3C", "2F", "77", "3E"}) {
    vocabulary["<0x" + std::string(byte) + ">"] = vocabulary.size();
  }
  const json file = {{"model",
                      {{"type", "BPE"},
                       {"vocab", vocabulary},
                       {"merges", json::array()},
                       {"unk_token", "<unk>"},
                       {"continuing_subword_prefix", "##"},
                       {"end_of_word_suffix", "</w>"},
                       {"byte_fallback", true}}}};
  const auto tokenizer = parse_tokenizer(file.dump(), "the file");
  EXPECT_EQ(tokens_of(*tokenizer, "aé"), (Pieces{"a", "<0x23>", "<0x23>", "<0xC3>", "<0xA9>",
                                                 "<0x3C>", "<0x2F>", "<0x77>", "<0x3E>"}));
  EXPECT_EQ(tokens_of(*tokenizer, "aéq"),
            (Pieces{"a", "<0x23>", "<0x23>", "<0xC3>", "<0xA9>", "<unk>"}));
}

}  // namespace
}  // namespace vitrine
