// Tests damaged and hostile tokenizer files. Each must be rejected with an error that names the
// file and the reason, without much time or memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/support/results.h"
#include "test/tokenizers/small_files.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using nlohmann::json;
using test::llama2c_file;
using test::tokenizer_text;
using testing::HasSubstr;

std::string refusal(const std::string& bytes) {
  return test::thrown<TokenizerError>([&] { parse_tokenizer(bytes, "the file"); });
}

struct Damage {
  const char* file;
  const char* pointer;  // JSON pointer of the value to replace
  const char* value;
  const char* error;  // a part of the error message
};

const Damage kDamages[] = {
    {"byte_level.json", "/model/vocab/ab", "-1", "token \"ab\" has the negative id -1"},
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
    {"byte_level.json", "/model/type", "\"Hexagram\"", "has type \"Hexagram\""},
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
    {"byte_level.json", "/added_tokens/0/content", "\"ab\"",
     "has the id 20, but the vocabulary says 9"},
    {"byte_level.json", "/added_tokens/0/content", "7", "added_tokens[0].content: is not a string"},
    {"byte_level.json", "/pre_tokenizer/pretokenizers/0/pattern/Regex", "\"(\"",
     "the regular expression is not supported: end pattern with unmatched"},
    {"byte_level.json", "/pre_tokenizer/pretokenizers/0/behavior", "\"Eaten\"", "behavior"},
    {"byte_level.json", "/post_processor/single/0/SpecialToken/id", "\"<x>\"", "<x>"},
    {"byte_level.json", "/post_processor/special_tokens/<|begin_of_text|>/ids/0", "23",
     "post_processor: no token has the id 23"},
    {"byte_level.json", "/post_processor/single/1", "{\"Pair\": 1}", "post_processor.single[1]"},
    {"byte_fallback.json", "/decoder/decoders/3/content", "\"\"", "is not one character"},
    {"byte_fallback.json", "/decoder/decoders/3/start", "-1", "out of range"},
    {"word_piece.json", "/model/unk_token", "\"[NO]\"", "model.unk_token"},
    {"word_piece.json", "/model/max_input_chars_per_word", "-1", "out of range"},
    {"word_piece.json", "/model", R"({"type":"WordLevel","vocab":{"a":0}})",
     "model: has no \"unk_token\""},
    {"unigram.json", "/model/unk_id", "8", "model.unk_id: is 8, but the vocabulary has 8 tokens"},
    {"unigram.json", "/model/vocab/2", "[\"a\"]", "model.vocab[2]"},
    {"unigram.json", "/model/vocab/2", "[\"a\", \"NaN\"]", "not finite"},
    {"unigram.json", "/model/vocab", "[]", "model.vocab: is empty"},
    {"unigram.json", "/pre_tokenizer/replacement", "\"xy\"", "is not one character"},
};

TEST(DamagedFiles, ErrorNamesInvalidJsonValues) {
  for (const Damage& damage : kDamages) {
    json file = json::parse(tokenizer_text(damage.file));
    file[json::json_pointer(damage.pointer)] = json::parse(damage.value);
    const std::string text = refusal(file.dump());
    EXPECT_THAT(text, HasSubstr(damage.error)) << damage.pointer;
    EXPECT_THAT(text, testing::StartsWith("the file")) << damage.pointer;
  }
}

TEST(DamagedFiles, RejectsMalformedJson) {
  EXPECT_THAT(refusal("{"), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal("{}"), HasSubstr("neither a tokenizer.json"));
  EXPECT_THAT(refusal(std::string(100'000, '{')), HasSubstr("nested deeper than 64 levels"));
  std::string deep = "{\"model\":";
  for (int i = 0; i < 1000; ++i) deep += "[";
  EXPECT_THAT(refusal(deep), HasSubstr("nested deeper than 64 levels"));
  EXPECT_THAT(refusal("{\"model\":\"\xFF\"}"), HasSubstr("is not JSON"));
  EXPECT_THAT(refusal(""), testing::StartsWith("the file"));
}

TEST(DamagedFiles, RejectsDamagedTiktokenRanks) {
  const std::string good = tokenizer_text("ranks.tiktoken");
  EXPECT_THAT(refusal(good + "!!! 300\n"), HasSubstr("line 265"));
  EXPECT_THAT(refusal(good + "YWE=\n"), HasSubstr("line 265"));
  EXPECT_THAT(refusal(good + "YWE= -1\n"), HasSubstr("line 265"));
  EXPECT_THAT(refusal(good + "YWE= 99999999999999999999\n"), HasSubstr("line 265"));
  EXPECT_THAT(refusal(good + "YWE= 4000000000\n"), HasSubstr("far beyond"));
  EXPECT_THAT(refusal(good + "YWE= 5\n"), HasSubstr("id 5 is both"));
  EXPECT_THAT(refusal(good + "YWI= 270\n"), HasSubstr("a token has two ranks"));
}

TEST(DamagedFiles, RejectsDamagedLlama2cFiles) {
  EXPECT_THAT(refusal(llama2c_file(2'000'000'000, 1, 2, 4, {{0, " "}})),
              HasSubstr("expected 2000000000 tokens, found 1"));
  EXPECT_THAT(refusal(llama2c_file(-1, 1, 2, 4, {{0, " "}})),
              HasSubstr("more bytes follow the last token"));
  EXPECT_THAT(refusal(llama2c_file(1, 7, 0, 4, {{0, " "}})),
              HasSubstr("has id 7, but there are 1 tokens"));
  EXPECT_THAT(refusal(llama2c_file(1, 0, -1, 4, {{0, " "}})),
              HasSubstr("has id -1, but there are 1 tokens"));
  EXPECT_THAT(refusal(llama2c_file(1, 0, 0, 0, {{0, " "}})), HasSubstr("has 1 bytes"));
  EXPECT_THAT(refusal(llama2c_file(1, 0, 0, 4, {{std::nanf(""), " "}})),
              HasSubstr("a score is NaN"));
  std::string cut = llama2c_file(2, 0, 0, 4, {{0, " "}, {0, "abcd"}});
  cut.pop_back();
  EXPECT_THAT(refusal(cut), HasSubstr("expected 4 bytes, found 3"));
}

// The damage replaces, removes or repeats bytes.
TEST(DamagedFiles, RandomDamageIsRejectedOrHarmless) {
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

// Builds without SentencePiece also reject the undamaged model.
TEST(DamagedFiles, RejectsATruncatedSentencePieceModel) {
  std::string model = test::read_text(test::sample("kjv_8da4w/tokenizer.model"));
  model.resize(model.size() / 2);
  const std::string text = refusal(model);
  EXPECT_THAT(text, HasSubstr("the file"));
  EXPECT_THAT(text, HasSubstr("SentencePiece"));
  EXPECT_THAT(text,
              testing::AnyOf(HasSubstr("cut off or damaged?"), HasSubstr("lacks its library")));
}

TEST(DamagedFiles, ReportsThePathOfAMissingFile) {
  EXPECT_EQ(test::thrown<TokenizerError>([] { load_tokenizer("/nowhere/tokenizer.json"); }),
            "/nowhere/tokenizer.json: No such file or directory");
}

}  // namespace
}  // namespace vitrine
