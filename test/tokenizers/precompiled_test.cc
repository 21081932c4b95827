// SentencePiece's compiled replacements, against SentencePiece itself on the table of a trained
// model.
#include "tokenizers/hugging_face/precompiled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <random>

#include "base/json.h"
#include "test/support/corpus.h"
#include "tokenizers/hugging_face/normalizer.h"
#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {
namespace {

using testing::HasSubstr;

std::string trained_model() {
  std::ifstream file(test::sample("kjv_8da4w/tokenizer.model"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The trained model with all bytes as tokens, so that each text comes back as it was normalized.
// Messages of protobuf are merged where they follow each other.
std::string model_with_bytes() {
  std::string model = trained_model();
  for (int byte = 0; byte < 256; ++byte) {
    const std::string piece = fmt::format("\x0A\x06<0x{:02X}>\x18\x06", byte);  // name, type
    model += '\x0A' + std::string(1, static_cast<char>(piece.size())) + piece;
  }
  return model + "\x12\x03\x98\x02\x01";  // trainer_spec.byte_fallback
}

// The field after the name of the rules, nmt_nfkc: tag 0x12, the size as a varint, the table.
std::string nmt_nfkc_table() {
  const std::string model = trained_model();
  const std::string before = "nmt_nfkc\x12";
  size_t at = model.find(before);
  if (at == std::string::npos) return {};
  at += before.size();
  size_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(model[at++]);
    size |= static_cast<size_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return model.substr(at, size);
}

// SentencePiece makes one space of several, and none at the ends.
std::string with_single_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

TEST(Precompiled, AgreesWithSentencePieceOnEachCharacter) {
  std::unique_ptr<Tokenizer> model;
  try {
    model = parse_tokenizer(model_with_bytes(), "the model");
  } catch (const TokenizerError& error) {
    GTEST_SKIP() << error.what();  // builds without the library
  }
  const PrecompiledTable table(nmt_nfkc_table(), "the model");
  size_t changed = 0;
  for (char32_t c = 0x21; c < 0x10000; c += c < 0x3400 || c >= 0xF900 ? 1 : 7) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_character(text, c);
    const std::string found = table.apply(text);
    changed += found != text ? 1 : 0;
    ASSERT_EQ(with_single_spaces(found), with_single_spaces(model->decode(model->encode(text))))
        << std::hex << static_cast<uint32_t>(c);
  }
  EXPECT_GT(changed, 1000U);
}

TEST(Precompiled, ReplacesCharactersAndGraphemes) {
  const PrecompiledTable table(nmt_nfkc_table(), "the model");
  EXPECT_EQ(table.apply(""), "");
  EXPECT_EQ(table.apply("plain text"), "plain text");
  EXPECT_EQ(table.apply("ﬁne ①② Ｆｕｌｌ"), "fine 12 Full");
  EXPECT_EQ(table.apply("a\tb\nc"), "a b c");
  EXPECT_EQ(table.apply("a\r\nb"), "a b");  // one grapheme
  EXPECT_EQ(table.apply("e\u0301"), "é");   // composed
  EXPECT_EQ(table.apply("\u3000日本語"), " 日本語");
  EXPECT_EQ(table.apply("ｕ\u0301"), "u");  // the shortest known beginning stands for all
  // Half-width letter and mark are one grapheme of 6 bytes: they are not composed.
  EXPECT_EQ(table.apply("ｶﾞ"), "カ\u3099");
}

TEST(Precompiled, IsAStepOfATokenizerJson) {
  const JsonDocument empty(R"({"type": "Precompiled", "precompiled_charsmap": "AAAA"})",
                           "the file");
  EXPECT_THROW(read_normalizer(empty.root(), "the file"), TokenizerError);
  const JsonDocument not_base64(R"({"type": "Precompiled", "precompiled_charsmap": "?"})",
                                "the file");
  EXPECT_ANY_THROW(read_normalizer(not_base64.root(), "the file"));
  // A trie of one unit that leads to itself: nothing is replaced.
  const JsonDocument nothing(R"({"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAAA="})",
                             "the file");
  std::string text;
  text += "\x01";
  EXPECT_THROW(read_normalizer(nothing.root(), "the file")(text), TokenizerError);
}

// Tables that lie are refused, or replace by something that is UTF-8.
TEST(Precompiled, DamagedTablesLeadNowhere) {
  const std::string good = nmt_nfkc_table();
  const std::string text = "ﬁne ①② Ｆｕｌｌ a\tb\nc e\u0301 日本語 ｶﾞ";
  EXPECT_THROW(PrecompiledTable("", "the file"), TokenizerError);
  EXPECT_THROW(PrecompiledTable(good.substr(0, 1000), "the file"), TokenizerError);
  std::mt19937 random(7);
  size_t refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 3000; ++i) bytes[4 + random() % 0x2b400] = static_cast<char>(random());
    try {
      const std::string found = PrecompiledTable(bytes, "the file").apply(text);
      EXPECT_EQ(well_formed(found), found);
    } catch (const TokenizerError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the file: precompiled_charsmap: "));
      ++refused;
    }
  }
  EXPECT_GT(refused, 20U);
}

}  // namespace
}  // namespace vitrine::hugging_face
