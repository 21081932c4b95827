#include "tokenizers/sentence_piece_check.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "tokenizers/character_map.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

constexpr size_t kMaxPieceBytes = 1024;

// Field numbers in sentencepiece_model.proto.
constexpr uint64_t kPieces = 1;
constexpr uint64_t kPieceText = 1;
constexpr uint64_t kNormalizerSpec = 3;
constexpr uint64_t kDenormalizerSpec = 5;
constexpr uint64_t kCharacterMap = 2;

// Reads the fields of one message (https://protobuf.dev/programming-guides/encoding).
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  struct Field {
    uint64_t number;
    std::optional<std::string_view> bytes;  // set if the field is a string or a message
  };

  // Returns nullopt at the end and for a malformed message.
  std::optional<Field> next() {
    if (rest_.empty()) return std::nullopt;
    const uint64_t tag = read_varint();
    Field field = {tag >> 3, std::nullopt};
    switch (tag & 7) {
      case 0:
        read_varint();
        break;
      case 1:
        read_bytes(8);
        break;
      case 2:
        field.bytes = read_bytes(read_varint());
        break;
      case 5:
        read_bytes(4);
        break;
      default:  // groups, which models do not contain
        is_malformed_ = true;
        break;
    }
    if (field.number == 0 || tag > UINT32_MAX) is_malformed_ = true;
    return is_malformed_ ? std::nullopt : std::optional(field);
  }
  bool is_malformed() const { return is_malformed_; }

 private:
  uint64_t read_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    is_malformed_ = true;
    return 0;
  }

  std::string_view read_bytes(uint64_t size) {
    if (size > rest_.size()) {
      is_malformed_ = true;
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool is_malformed_ = false;
};

class ModelCheck {
 public:
  explicit ModelCheck(const std::string& place) : place_(place) {}

  void check_model(std::string_view bytes) {
    each_string(bytes, [&](uint64_t field, std::string_view value) {
      if (field == kPieces) check_piece(value);
      if (field == kNormalizerSpec || field == kDenormalizerSpec) check_normalizer(value);
    });
  }

 private:
  template <class Visit>
  void each_string(std::string_view bytes, Visit visit) const {
    MessageReader reader(bytes);
    while (const auto field = reader.next()) {
      if (field->bytes) visit(field->number, *field->bytes);
    }
    if (reader.is_malformed()) {
      throw TokenizerError(
          fmt::format("{}: is not a SentencePiece model: cut off or damaged?", place_));
    }
  }

  void check_piece(std::string_view bytes) const {
    each_string(bytes, [&](uint64_t field, std::string_view text) {
      if (field != kPieceText || text.size() <= kMaxPieceBytes) return;
      throw TokenizerError(fmt::format("{}: a piece has {} bytes; at most {} are accepted", place_,
                                       text.size(), kMaxPieceBytes));
    });
  }

  // Checks the character map of a normalizer. An empty map is valid.
  void check_normalizer(std::string_view bytes) const {
    each_string(bytes, [&](uint64_t field, std::string_view map) {
      if (field == kCharacterMap && !map.empty()) CharacterMap(map, place_);
    });
  }

  const std::string& place_;
};

}  // namespace

void check_sentence_piece_model(std::string_view bytes, const std::string& place) {
  ModelCheck(place).check_model(bytes);
}

}  // namespace vitrine
