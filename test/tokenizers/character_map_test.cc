// Compares Vitrine's code for compiled character maps with SentencePiece itself, on the map of a
// trained model.
#include "tokenizers/character_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

#include "base/json.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/support/results.h"
#include "tokenizers/hugging_face/normalizer.h"
#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {
namespace {

using testing::HasSubstr;

std::string trained_model() { return test::read_text(test::sample("kjv_8da4w/tokenizer.model")); }

// Adds tokens for all bytes to the trained model, so that decoding an encoded text returns the
// normalized text. The tokens are appended to the file, because protobuf parsers merge concatenated
// messages.
std::string model_with_bytes() {
  std::string model = trained_model();
  for (int byte = 0; byte < 256; ++byte) {
    const std::string piece = fmt::format("\x0A\x06<0x{:02X}>\x18\x06", byte);  // name, type
    model += '\x0A' + std::string(1, static_cast<char>(piece.size())) + piece;
  }
  return model + "\x12\x03\x98\x02\x01";  // trainer_spec.byte_fallback
}

// Returns the character map of the trained model. In the model file, the map comes after the name
// nmt_nfkc, the tag 0x12 and a varint with the map's size.
std::string nmt_nfkc_map() {
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

// Merges repeated spaces and removes spaces at the end, like SentencePiece.
std::string with_single_spaces(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

TEST(CharacterMap, MatchesSentencePieceForEachCharacter) {
  std::unique_ptr<Tokenizer> model;
  try {
    model = parse_tokenizer(model_with_bytes(), "the model");
  } catch (const TokenizerError& error) {
    ASSERT_THAT(error.what(), testing::HasSubstr("this build lacks its library"));
    GTEST_SKIP() << error.what();
  }
  const CharacterMap map(nmt_nfkc_map(), "the model");
  size_t changed = 0;
  for (char32_t c = 0x21; c < 0x10000; c += c < 0x3400 || c >= 0xF900 ? 1 : 7) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_character(text, c);
    const std::string found = map.apply(text);
    changed += found != text ? 1 : 0;
    ASSERT_EQ(with_single_spaces(found), with_single_spaces(model->decode(model->encode(text))))
        << std::hex << static_cast<uint32_t>(c);
  }
  EXPECT_GT(changed, 1000U);
}

TEST(CharacterMap, ReplacesSingleCharactersAndGraphemes) {
  const CharacterMap map(nmt_nfkc_map(), "the model");
  EXPECT_EQ(map.apply(""), "");
  EXPECT_EQ(map.apply("plain text"), "plain text");
  EXPECT_EQ(map.apply("ﬁne ①② Ｆｕｌｌ"), "fine 12 Full");
  EXPECT_EQ(map.apply("a\tb\nc"), "a b c");
  EXPECT_EQ(map.apply("a\r\nb"), "a b") << "CR LF is one grapheme";
  EXPECT_EQ(map.apply("e\u0301"), "é") << "letter and accent are composed";
  EXPECT_EQ(map.apply("\u3000日本語"), " 日本語");
  EXPECT_EQ(map.apply("ｕ\u0301"), "u") << "the shortest prefix in the map is replaced";
  // The half-width letter and its mark form one grapheme of 6 bytes. Graphemes of 6 or more bytes
  // are replaced character by character, so the two are not composed.
  EXPECT_EQ(map.apply("ｶﾞ"), "カ\u3099");
}

std::string map_refusal(const std::string& bytes) {
  return test::thrown<TokenizerError>([&] { CharacterMap(bytes, "the file"); });
}

TEST(CharacterMap, IsReadFromATokenizerJson) {
  const auto refused = [](const char* map) {
    const std::string step =
        fmt::format(R"({{"type": "Precompiled", "precompiled_charsmap": "{}"}})", map);
    const JsonDocument document(step, "the file");
    EXPECT_ANY_THROW(read_normalizer(document.root(), "the file")) << map;
  };
  refused("AAAA");
  refused("?");
  refused("BAAAAAAAAAA=");  // a trie of one unit
}

std::string bytes_of(uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

// A map whose trie has blocks of 256 units. Each block holds the edges of one node.
class SmallMap {
 public:
  explicit SmallMap(uint32_t num_blocks, std::string replacements)
      : units_(256 * num_blocks), replacements_(std::move(replacements)) {
    units_[0] = 256 << 10;  // the root's base is block 1
    for (uint32_t unit = 1; unit < units_.size(); ++unit) units_[unit] = kUnused;
  }

  // Adds an edge to the trie: `byte` leads from the block `from` to the block `to`.
  void lead(uint32_t from, uint8_t byte, uint32_t to) {
    const uint32_t unit = 256 * from + byte;
    units_[unit] = (unit ^ 256 * to) << 10 | (units_[unit] & 0x100) | byte;
  }
  // Adds an edge, and sets the replacement of the text that ends with `byte`.
  void lead(uint32_t from, uint8_t byte, uint32_t to, uint32_t replacement) {
    lead(from, byte, to);
    units_[256 * from + byte] |= 0x100;
    units_[256 * to] = 0x80000000 | replacement;
  }

  std::string bytes() const {
    std::string bytes = bytes_of(static_cast<uint32_t>(4 * units_.size()));
    for (const uint32_t unit : units_) bytes += bytes_of(unit);
    return bytes + replacements_;
  }

 private:
  static constexpr uint32_t kUnused = 0x80000000;  // marks a unit that no byte reaches
  std::vector<uint32_t> units_;
  std::string replacements_;
};

TEST(CharacterMap, AcceptsASmallMap) {
  SmallMap map(4, std::string("xyz\0", 4));
  map.lead(1, 'a', 2, 0);
  map.lead(1, 'b', 3);
  map.lead(3, 'c', 2, 0);
  EXPECT_EQ(map_refusal(map.bytes()), "");
  EXPECT_EQ(CharacterMap(map.bytes(), "the file").apply("ab\na"), "xyzb\nxyz");
}

TEST(CharacterMap, RejectsReferencesOutsideTheTrie) {
  SmallMap map(3, std::string("x\0", 2));
  map.lead(1, 'a', 3);
  EXPECT_EQ(map_refusal(map.bytes()),
            "the file: precompiled_charsmap: the trie leads to unit 1023, but has only 768 units");
  EXPECT_THAT(map_refusal(bytes_of(4) + bytes_of(0xFFFFFFFF)), HasSubstr("leads to unit"));
}

TEST(CharacterMap, RejectsReplacementsOutsideTheMap) {
  SmallMap map(3, std::string("\xC3\xA9\0", 3));
  for (const uint32_t begin : {1U, 4U, 0x7FFFFFFFU}) {
    map.lead(1, 'a', 2, begin);
    EXPECT_EQ(
        map_refusal(map.bytes()),
        fmt::format("the file: precompiled_charsmap: no replacement begins at byte {}", begin));
  }
  map.lead(1, 'a', 2, 3);
  EXPECT_EQ(map_refusal(map.bytes()), "") << "an empty replacement at the end";
}

TEST(CharacterMap, RejectsCycles) {
  SmallMap map(4, "");
  map.lead(1, 'a', 2);
  map.lead(2, 'b', 3);
  EXPECT_EQ(map_refusal(map.bytes()), "");
  map.lead(3, 'c', 2);
  EXPECT_THAT(map_refusal(map.bytes()), HasSubstr("the trie has a cycle"));
}

// At each position of a text, SentencePiece considers at most 32 matching entries of the map.
TEST(CharacterMap, RejectsMoreThan32NestedPrefixes) {
  SmallMap map(35, std::string("x\0", 2));
  for (uint32_t block = 1; block <= 32; ++block) map.lead(block, 'a', block + 1, 0);
  EXPECT_EQ(map_refusal(map.bytes()), "");
  map.lead(33, 'a', 34, 0);
  EXPECT_THAT(map_refusal(map.bytes()), HasSubstr("the trie has more than 32 texts on one path"));
}

TEST(CharacterMap, RejectsReplacementsThatMakeTextTooLong) {
  SmallMap map(4, std::string(24, 'x') + '\0' + std::string(12, 'x'));
  map.lead(1, 'a', 2, 25);
  map.lead(1, 'b', 3);
  map.lead(3, 'b', 2, 25);
  EXPECT_EQ(map_refusal(map.bytes()), "");
  map.lead(1, 'a', 2, 0);
  EXPECT_THAT(map_refusal(map.bytes()), HasSubstr("replaces 1 bytes with 24"));
}

TEST(CharacterMap, RandomDamageIsRejectedOrHarmless) {
  const std::string good = nmt_nfkc_map();
  const std::string text = "ﬁne ①② Ｆｕｌｌ a\tb\nc e\u0301 日本語 ｶﾞ";
  EXPECT_THROW(CharacterMap("", "the file"), TokenizerError);
  EXPECT_THROW(CharacterMap(good.substr(0, 1000), "the file"), TokenizerError);
  std::mt19937 random(7);
  size_t refused = 0;
  for (int round = 0; round < 200; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 1 + round / 10; ++i) {
      bytes[4 + random() % 0x2b400] = static_cast<char>(random());
    }
    try {
      const std::string found = CharacterMap(bytes, "the file").apply(text);
      EXPECT_EQ(well_formed(found), found);
    } catch (const TokenizerError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the file: precompiled_charsmap: "));
      ++refused;
    }
  }
  EXPECT_GT(refused, 20U);
  EXPECT_LT(refused, 200U);
}

}  // namespace
}  // namespace vitrine::hugging_face
