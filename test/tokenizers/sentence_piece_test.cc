// Models of the kinds that SentencePiece trains, against the library's own ids and texts.
#include <gtest/gtest.h>

#include <sentencepiece_processor.h>

#include <algorithm>
#include <random>

#include "tokenizers/byte_tokens.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

using Ids = std::vector<TokenId>;

struct Model {
  const char* name;
  int type;  // 1: unigram, 2: BPE, 3: words, 4: characters
  bool has_bytes;
  bool adds_space;    // before the first word
  bool drops_spaces;  // that are more than one
  std::vector<std::string> pieces;

  bool names_bytes() const {  // without having pieces for them
    return std::ranges::any_of(pieces,
                               [](const std::string& p) { return byte_of_token(p).has_value(); });
  }
};

// Fields of protobuf: all sizes here are below 128.
std::string number(int field, int value) {
  const int tag = field << 3;
  std::string bytes(1, static_cast<char>(tag % 128 + (tag > 127 ? 128 : 0)));
  if (tag > 127) bytes += static_cast<char>(tag / 128);
  return bytes + static_cast<char>(value);
}
std::string text(int field, const std::string& value) {
  return static_cast<char>(field << 3 | 2) + std::string(1, static_cast<char>(value.size())) +
         value;
}
std::string piece(const std::string& name, int type) {
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
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // from 0.2.2 on for Abseil's spans
  std::string library_text(const Ids& ids) {
    std::string found;
    EXPECT_TRUE(library_.Decode(ids, &found).ok());
    return found;
  }
#pragma GCC diagnostic pop

  sentencepiece::SentencePieceProcessor library_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(SentencePieceModels, HaveTheTextsOfTheLibrary) {
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

TEST_P(SentencePieceModels, HaveTheIdsOfTheLibrary) {
  constexpr const char* kParts[] = {"a",  "b", "ab", " ",  "  ",    "<",
                                    "<<", "é", "日", "\n", "<0x41>"};
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same texts each time
  for (int i = 0; i < 5000; ++i) {
    std::string words;
    for (int k = 0; k < 1 + i % 12; ++k) words += kParts[random() % std::size(kParts)];
    ASSERT_EQ(tokenizer_->encode(words), library_ids(words)) << words;
  }
}

// The library alone takes minutes where it joins the characters one by one.
TEST_P(SentencePieceModels, AreQuickWhereNothingIsKnown) {
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

}  // namespace
}  // namespace vitrine
