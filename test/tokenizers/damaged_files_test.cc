// Files that lie: each is refused with a text that names the file and the fact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/tokenizers/small_files.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using nlohmann::json;
using test::llama2c_file;
using test::tokenizer_text;

std::string refusal(const std::string& bytes) {
  try {
    parse_tokenizer(bytes, "the file");
  } catch (const TokenizerError& error) {
    return error.what();
  }
  return "accepted";
}

struct Lie {
  const char* file;
  const char* place;  // JSON pointer; null value: removed
  const char* value;
  const char* says;
};

const Lie kLies[] = {
    {"byte_level.json", "/model/vocab/ab", "-1", "token \"ab\" has the id -1"},
    {"byte_level.json", "/model/vocab/ab", "10", "id 10 is both"},
    {"byte_level.json", "/model/vocab/ab", "4000000000", "far beyond the 20 tokens"},
    {"byte_level.json", "/model/vocab/ab", "18446744073709551615", "out of range"},
    {"byte_level.json", "/model/vocab/ab", "\"9\"", "model.vocab.ab: is not an integer"},
    {"byte_level.json", "/model/vocab", "[]", "model.vocab: is not an object"},
    {"byte_level.json", "/model/merges/2", "[\"a\", \"q\"]", "\"q\" is not in the vocabulary"},
    {"byte_level.json", "/model/merges/2", "[\"b\", \"a\"]", "\"ba\" is not in the vocabulary"},
    {"byte_level.json", "/model/merges/2", "[\"a\"]", "model.merges[2]: has 1 parts"},
    {"byte_level.json", "/model/merges/2", "\"a b c\"", "model.merges[2]"},
    {"byte_level.json", "/model/merges", "7", "model.merges"},
    {"byte_level.json", "/model/type", "\"Hexagram\"", "is of type \"Hexagram\""},
    {"byte_level.json", "/model", "null", "model"},
    {"byte_level.json", "/model/dropout", "0.5", "dropout"},
    {"byte_level.json", "/normalizer/type", "\"Nonsense\"", "normalizer.type: \"Nonsense\""},
    {"byte_level.json", "/decoder/type", "\"Telegraph\"", "decoder.type: \"Telegraph\" is not"},
    {"byte_level.json", "/decoder/type", "\"CTC\"", "decoder: has no \"pad_token\""},
    {"byte_level.json", "/decoder",
     R"({"type":"CTC","pad_token":"","word_delimiter_token":"|","cleanup":true})",
     "decoder.pad_token: is empty"},
    {"byte_level.json", "/decoder",
     R"({"type":"CTC","pad_token":"a","word_delimiter_token":"","cleanup":true})",
     "decoder.word_delimiter_token: is empty"},
    {"byte_level.json", "/decoder", R"({"type":"BPEDecoder","suffix":""})",
     "decoder.suffix: is empty"},
    {"byte_level.json", "/pre_tokenizer", R"({"type":"FixedLength","length":0})",
     "pre_tokenizer.length: is 0"},
    {"byte_level.json", "/pre_tokenizer", R"({"type":"FixedLength","length":-1})", "out of range"},
    {"byte_level.json", "/pre_tokenizer", R"({"type":"CharDelimiterSplit","delimiter":"ab"})",
     "pre_tokenizer.delimiter: is not one character"},
    {"byte_level.json", "/pre_tokenizer/type", "\"Split on Tuesdays\"", "pre_tokenizer.type"},
    {"byte_level.json", "/post_processor",
     R"({"type":"Sequence","processors":[
          {"type":"TemplateProcessing","single":[{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"x"}}],
           "special_tokens":{"x":{"ids":[1]}}},
          {"type":"BertProcessing","cls":["a",1],"sep":["b",2]}]})",
     "post_processor.processors[1]: adds tokens after a template"},
    {"byte_level.json", "/added_tokens/0/id", "9", "\"<|begin_of_text|>\", id 9"},
    {"byte_level.json", "/added_tokens/1/id", "20", "\"<|end_of_text|>\", id 20"},
    {"byte_level.json", "/added_tokens/0/id", "99999999", "far beyond"},
    {"byte_level.json", "/added_tokens/0/content", "\"ab\"", "has the id 20, but 9"},
    {"byte_level.json", "/added_tokens/0/content", "7", "added_tokens[0].content: is not a string"},
    {"byte_level.json", "/pre_tokenizer/pretokenizers/0/pattern/Regex", "\"(\"",
     "the pattern is not supported: a ( without its )"},
    {"byte_level.json", "/pre_tokenizer/pretokenizers/0/behavior", "\"Eaten\"", "behavior"},
    {"byte_level.json", "/post_processor/single/0/SpecialToken/id", "\"<x>\"", "<x>"},
    {"byte_level.json", "/post_processor/special_tokens/<|begin_of_text|>/ids/0", "23",
     "post_processor: no token has the id 23"},
    {"byte_level.json", "/post_processor/single/1", "{\"Pair\": 1}", "post_processor.single[1]"},
    {"byte_fallback.json", "/decoder/decoders/3/content", "\"\"", "is not one character"},
    {"byte_fallback.json", "/decoder/decoders/3/start", "-1", "out of range"},
    {"word_piece.json", "/model/unk_token", "\"[NO]\"", "model.unk_token"},
    {"word_piece.json", "/model/max_input_chars_per_word", "1000000000", "more than the 4096"},
    {"word_piece.json", "/model", R"({"type":"WordLevel","vocab":{"a":0}})",
     "model: has no \"unk_token\""},
    {"unigram.json", "/model/unk_id", "8", "model.unk_id: is 8, of a vocabulary of 8"},
    {"unigram.json", "/model/vocab/2", "[\"a\"]", "model.vocab[2]"},
    {"unigram.json", "/model/vocab/2", "[\"a\", \"NaN\"]", "not finite"},
    {"unigram.json", "/model/vocab", "[]", "model.vocab: is empty"},
    {"unigram.json", "/pre_tokenizer/replacement", "\"xy\"", "is not one character"},
};

TEST(DamagedFiles, JsonThatLiesIsRefusedByName) {
  for (const Lie& lie : kLies) {
    json file = json::parse(tokenizer_text(lie.file));
    file[json::json_pointer(lie.place)] = json::parse(lie.value);
    const std::string text = refusal(file.dump());
    EXPECT_THAT(text, testing::HasSubstr(lie.says)) << lie.place;
    EXPECT_THAT(text, testing::StartsWith("the file")) << lie.place;
  }
}

TEST(DamagedFiles, ContentsThatGrowTextAreBounded) {
  json file = json::parse(tokenizer_text("byte_fallback.json"));
  json& steps = file["normalizer"]["normalizers"];
  steps[1]["content"] = std::string(257, 'x');
  EXPECT_THAT(refusal(file.dump()), testing::HasSubstr("257 bytes"));
  steps[1]["pattern"] = {{"Regex", "."}};
  steps[1]["content"] = std::string(256, 'x');
  for (int i = 0; i < 40; ++i) steps.push_back(steps[1]);
  const auto tokenizer = parse_tokenizer(file.dump(), "the file");
  EXPECT_THROW(tokenizer->encode(std::string(1000, 'h')), TokenizerError);
}

// 60 tokens of 2 bytes each may become 4 kB for the first, then 64 times as long.
TEST(DamagedFiles, NormalizedAddedTokensAreBoundedTogether) {
  json file = json::parse(tokenizer_text("byte_fallback.json"));
  file["normalizer"] = {
      {"type", "Replace"}, {"pattern", {{"String", "%"}}}, {"content", std::string(200, 'x')}};
  const auto with_added = [&](size_t count) {
    json& added = file["added_tokens"] = json::array();
    for (size_t i = 0; i < count; ++i) {
      const std::string text = {'%', static_cast<char>('0' + i)};
      added.push_back({{"id", 15 + i}, {"content", text}, {"normalized", true}});
    }
    return file.dump();
  };
  // Of n tokens 201 n bytes, of which 4096 + 64 * 2 n are taken: up to 56.
  EXPECT_EQ(parse_tokenizer(with_added(56), "the file")->id_of("%0"), 15);
  EXPECT_THAT(refusal(with_added(57)),
              testing::HasSubstr("added_tokens: normalizer: makes 11457 bytes of a text of 114"));
}

// They are put at each character of a word, and may become as many byte tokens.
TEST(DamagedFiles, AffixesAreShort) {
  json file = json::parse(tokenizer_text("byte_fallback.json"));
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    file["model"][key] = std::string(257, '#');
    EXPECT_THAT(refusal(file.dump()), testing::HasSubstr(std::string(key) + ": has 257 bytes"));
    file["model"].erase(key);
  }
}

TEST(DamagedFiles, NotJson) {
  EXPECT_THAT(refusal("{"), testing::HasSubstr("is not JSON"));
  EXPECT_THAT(refusal("{}"), testing::HasSubstr("neither a tokenizer.json"));
  EXPECT_THAT(refusal(std::string(100'000, '{')),
              testing::HasSubstr("nested deeper than 64 levels"));
  std::string deep = "{\"model\":";
  for (int i = 0; i < 1000; ++i) deep += "[";
  EXPECT_THAT(refusal(deep), testing::HasSubstr("nested deeper than 64 levels"));
  EXPECT_THAT(refusal("{\"model\":\"\xFF\"}"), testing::HasSubstr("is not JSON"));
  EXPECT_THAT(refusal(""), testing::StartsWith("the file"));
}

TEST(DamagedFiles, Tiktoken) {
  const std::string good = tokenizer_text("ranks.tiktoken");
  EXPECT_THAT(refusal(good + "!!! 300\n"), testing::HasSubstr("line 265"));
  EXPECT_THAT(refusal(good + "YWE=\n"), testing::HasSubstr("line 265"));
  EXPECT_THAT(refusal(good + "YWE= -1\n"), testing::HasSubstr("line 265"));
  EXPECT_THAT(refusal(good + "YWE= 99999999999999999999\n"), testing::HasSubstr("line 265"));
  EXPECT_THAT(refusal(good + "YWE= 4000000000\n"), testing::HasSubstr("far beyond"));
  EXPECT_THAT(refusal(good + "YWE= 5\n"), testing::HasSubstr("id 5 is both"));
  EXPECT_THAT(refusal(good + "YWI= 270\n"), testing::HasSubstr("a token has two ranks"));
}

TEST(DamagedFiles, Llama2c) {
  EXPECT_THAT(refusal(llama2c_file(2'000'000'000, 1, 2, 4, {{0, " "}})),
              testing::HasSubstr("1 tokens are there of 2000000000"));
  EXPECT_THAT(refusal(llama2c_file(-1, 1, 2, 4, {{0, " "}})), testing::HasSubstr("end before"));
  EXPECT_THAT(refusal(llama2c_file(1, 7, 0, 4, {{0, " "}})), testing::HasSubstr("id 7 of 1"));
  EXPECT_THAT(refusal(llama2c_file(1, 0, -1, 4, {{0, " "}})), testing::HasSubstr("id -1 of 1"));
  EXPECT_THAT(refusal(llama2c_file(1, 0, 0, 0, {{0, " "}})), testing::HasSubstr("has 1 bytes"));
  EXPECT_THAT(refusal(llama2c_file(1, 0, 0, 4, {{std::nanf(""), " "}})),
              testing::HasSubstr("is not a number"));
  std::string cut = llama2c_file(2, 0, 0, 4, {{0, " "}, {0, "abcd"}});
  cut.pop_back();
  EXPECT_THAT(refusal(cut), testing::HasSubstr("4 bytes are wanted, 3 are left"));
}

// Bytes exchanged, left out or repeated: whatever comes of it is refused by name, or works.
TEST(DamagedFiles, RandomDamage) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  const std::string good[] = {
      tokenizer_text("byte_level.json"),   tokenizer_text("byte_fallback.json"),
      tokenizer_text("word_piece.json"),   tokenizer_text("unigram.json"),
      tokenizer_text("word_level.json"),   tokenizer_text("ranks.tiktoken"),
      llama2c_file({{-1, " "}, {-2, "a"}})};
  size_t refused = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string bytes = good[below(std::size(good))];
    for (size_t damage = below(3) + 1; damage > 0; --damage) {
      const size_t at = below(bytes.size());
      const size_t kind = below(3);
      if (kind == 0) bytes[at] = static_cast<char>(below(256));
      if (kind == 1) bytes.erase(at, below(8) + 1);
      if (kind == 2) bytes.insert(at, bytes.substr(below(bytes.size()), below(12)));
    }
    try {
      const auto tokenizer = parse_tokenizer(bytes, "the file");
      const std::vector<TokenId> ids = tokenizer->encode("ab <s>12 é\xFF hi\n");
      tokenizer->decode(ids);
    } catch (const TokenizerError& error) {
      ++refused;
      ASSERT_NE(std::string(error.what()), "");
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, 6000U);
}

// The reader is SentencePiece's own; builds without it refuse the whole model, too.
TEST(DamagedFiles, ACutSentencePieceModelIsNamed) {
  std::string model = test::read_text(test::sample("kjv_8da4w/tokenizer.model"));
  model.resize(model.size() / 2);
  const std::string text = refusal(model);
  EXPECT_THAT(text, testing::HasSubstr("the file"));
  EXPECT_THAT(text, testing::HasSubstr("SentencePiece"));
  EXPECT_THAT(text, testing::AnyOf(testing::HasSubstr("cut off or damaged?"),
                                   testing::HasSubstr("without its library")));
}

TEST(DamagedFiles, AreNamedByPath) {
  try {
    load_tokenizer("/nowhere/tokenizer.json");
    FAIL();
  } catch (const TokenizerError& error) {
    EXPECT_STREQ(error.what(), "/nowhere/tokenizer.json: cannot be read");
  }
}

}  // namespace
}  // namespace vitrine
