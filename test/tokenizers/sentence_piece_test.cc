// Tests each kind of model that SentencePiece can train. The ids and texts must equal those of the
// SentencePiece library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sentencepiece_processor.h>

#include <algorithm>
#include <random>

#include "test/support/results.h"
#include "tokenizers/byte_tokens.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using Ids = std::vector<TokenId>;

struct Model {
  const char* name;
  size_t type;  // 1: unigram, 2: BPE, 3: words, 4: characters
  bool has_bytes;
  bool adds_space;    // true if the model adds a space before the first word
  bool drops_spaces;  // true if the model merges repeated spaces
  std::vector<std::string> pieces;

  // True if a piece has the name of a byte piece, such as "<0x0A>".
  bool names_bytes() const {
    return std::ranges::any_of(pieces,
                               [](const std::string& p) { return byte_of_token(p).has_value(); });
  }
};

// The following functions return fields in the encoding of protocol buffers.
std::string varint(size_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value % 128 + 128);
  return bytes + static_cast<char>(value);
}
std::string number(size_t field, size_t value) { return varint(field << 3) + varint(value); }
std::string text(size_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}
std::string piece(const std::string& name, size_t type) {
  return text(1, text(1, name) + number(3, type));
}

std::string file_of(const Model& model) {
  std::string bytes = piece("<unk>", 2) + piece("<s>", 3) + piece("</s>", 3);
  for (int byte = 0; model.has_bytes && byte < 256; ++byte) {
    bytes += piece(byte_token(static_cast<uint8_t>(byte)), 6);
  }
  for (const std::string& name : model.pieces) bytes += piece(name, 1);
  bytes += text(2, number(3, model.type) + number(35, model.has_bytes ? 1 : 0));
  return bytes +
         text(3, number(3, model.adds_space ? 1 : 0) + number(4, model.drops_spaces ? 1 : 0));
}

class SentencePieceModels : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    const std::string bytes = file_of(GetParam());
    const auto status = library_.LoadFromSerializedProto({bytes.data(), bytes.size()});
    ASSERT_TRUE(status.ok()) << status.ToString();
    tokenizer_ = parse_tokenizer(bytes, "the model");
  }

  Ids library_ids(const std::string& words) {
    Ids ids;
    EXPECT_TRUE(library_.Encode({words.data(), words.size()}, &ids).ok());
    return ids;
  }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wdeprecated-declarations"  // version 0.2.2 deprecates the overloads without absl::Span
  std::string library_text(const Ids& ids) {
    std::string found;
    EXPECT_TRUE(library_.Decode(ids, &found).ok());
    return found;
  }
#pragma GCC diagnostic pop

  sentencepiece::SentencePieceProcessor library_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(SentencePieceModels, DecodingMatchesTheLibrary) {
  ASSERT_EQ(tokenizer_->vocabulary_size(), static_cast<size_t>(library_.GetPieceSize()));
  const int plain = library_.GetPieceSize() - static_cast<int>(GetParam().pieces.size());
  std::mt19937 random(6);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same ids each time
  const auto below = [&](int end) {
    return static_cast<TokenId>(random() % static_cast<uint32_t>(end));
  };
  for (int i = 0; i < 5000; ++i) {
    Ids ids;
    for (int k = 0; k < 1 + i % 6; ++k) {
      ids.push_back(k % 3 == 2 ? below(library_.GetPieceSize())
                               : plain + below(library_.GetPieceSize() - plain));
    }
    ASSERT_EQ(tokenizer_->decode(ids), library_text(ids)) << testing::PrintToString(ids);
  }
}

TEST_P(SentencePieceModels, EncodingMatchesTheLibrary) {
  constexpr const char* kParts[] = {"a",  "b", "ab", " ",  "  ",    "<",
                                    "<<", "é", "日", "\n", "<0x41>"};
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same texts each time
  for (int i = 0; i < 5000; ++i) {
    std::string words;
    for (int k = 0; k < 1 + i % 12; ++k) words += kParts[random() % std::size(kParts)];
    ASSERT_EQ(tokenizer_->encode(words), library_ids(words)) << words;
  }
}

// SentencePiece would take minutes to encode the long text. The test therefore expects
// SentencePiece's ids of a short text. Both texts repeat one unknown character. SentencePiece joins
// the repetitions into one unknown token, so the ids of both texts are equal.
TEST_P(SentencePieceModels, EncodeUnknownCharactersInLinearTime) {
  if (GetParam().has_bytes || GetParam().names_bytes()) return;
  const std::string few(20, '<');
  const std::string many(size_t{2} << 20, '<');
  EXPECT_EQ(tokenizer_->encode(many), library_ids(few));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, SentencePieceModels,
    testing::Values(
        Model{"words", 2, true, true, true, {"▁", "▁a", "a", "b", "ab"}},
        Model{"spaces_first", 2, true, true, false, {"▁▁", "▁▁▁▁", "▁a", "▁", "a", "b"}},
        Model{"spaces_first_none_added", 2, true, false, false, {"▁▁", "▁a", "▁", "a", "b"}},
        Model{"spaces_first_dropped", 1, true, false, true, {"▁▁", "▁a", "▁", "a", "b"}},
        Model{"characters", 4, false, true, true, {"▁", "a", "b"}},
        Model{"characters_none_added", 4, false, false, false, {"▁", "a", "b"}},
        Model{"suffixes", 1, false, true, false, {"a▁", "b▁", "a", "b", "▁"}},
        Model{"suffixes_dropped", 1, false, true, true, {"a▁", "b▁", "a", "b", "▁"}},
        Model{"whole_words", 3, false, true, true, {"▁a", "▁ab"}},
        Model{"no_space", 1, false, true, true, {"▁a", "a", "b"}},
        Model{"names_like_bytes", 3, false, false, true, {"<0x41>", "▁a"}}),
    [](const auto& kind) { return std::string(kind.param.name); });

// SentencePiece reads out of bounds if an offset in the map is outside the map.
std::string map_that_leads_outside() {
  return std::string("\x04\0\0\0", 4) + "\xFF\xFF\xFF\x7F" + std::string("x\0", 2);
}

std::string damaged_model(const std::string& field) {
  return file_of({"damaged", 1, false, true, true, {"a"}}) + field;
}

std::string model_refusal(const std::string& model) {
  return test::thrown<TokenizerError>([&] { parse_tokenizer(model, "the model"); });
}

TEST(DamagedSentencePieceModels, AreRejectedBeforeTheLibraryReadsThem) {
  const std::string map = text(2, map_that_leads_outside());
  const auto leads_outside =
      testing::HasSubstr("the model: precompiled_charsmap: the trie leads to unit");
  EXPECT_EQ(model_refusal(damaged_model("")), "");
  EXPECT_THAT(model_refusal(damaged_model(text(3, map))), leads_outside);
  EXPECT_THAT(model_refusal(damaged_model(text(5, map))), leads_outside)
      << "the denormalizer must be checked, too";
  EXPECT_THAT(model_refusal(damaged_model(text(3, map) + text(3, text(2, "")))), leads_outside)
      << "a later field replaces an earlier one";
  // The tag of the outer field and the size of the inner field have one byte more than they need.
  std::string padded = map;
  padded[1] = static_cast<char>(padded[1] | 0x80);
  padded.insert(2, 1, '\0');
  padded = std::string("\x9A\x00", 2) + varint(padded.size()) + padded;
  EXPECT_THAT(model_refusal(damaged_model(padded)), leads_outside);
}

TEST(DamagedSentencePieceModels, AreRejectedIfMalformed) {
  const auto malformed =
      testing::HasSubstr("the model: is not a SentencePiece model: cut off or damaged?");
  EXPECT_THAT(model_refusal(damaged_model("\x1B\x1C")), malformed) << "a group";
  EXPECT_THAT(model_refusal(damaged_model("\x1A\x7F")), malformed) << "a field of 127 bytes";
  EXPECT_THAT(model_refusal(damaged_model(std::string(11, '\x80'))), malformed)
      << "a tag of 11 bytes";
  EXPECT_THAT(model_refusal(damaged_model(text(3, text(1, "x") + "\x12"))), malformed);
}

// The length of pieces is limited, because the encoding time per byte of text grows with the length
// of the longest piece.
TEST(DamagedSentencePieceModels, AreRejectedIfAPieceIsTooLong) {
  EXPECT_EQ(model_refusal(damaged_model(piece(std::string(1024, 'a'), 1))), "");
  EXPECT_EQ(model_refusal(damaged_model(piece(std::string(1025, 'a'), 1))),
            "the model: a piece has 1025 bytes; at most 1024 are accepted");
}

}  // namespace
}  // namespace vitrine
