#include "tokenizers/sentence_piece.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>

#include "tokenizers/byte_tokens.h"
#include "tokenizers/sentence_piece_check.h"
#include "tokenizers/unicode.h"

namespace vitrine {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581

using Processor = sentencepiece::SentencePieceProcessor;

class SentencePieceTokenizer final : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string_view bytes, const std::string& place) : place_(place) {
    form_ = "SentencePiece";
    check_sentence_piece_model(bytes, place);
    if (const auto status = processor_->LoadFromSerializedProto({bytes.data(), bytes.size()});
        !status.ok()) {
      throw TokenizerError(
          fmt::format("{}: SentencePiece cannot read these {} bytes as its model: cut off or "
                      "damaged? ({})",
                      place, bytes.size(), status.ToString()));
    }
    size_ = processor_->GetPieceSize();
    load_with_bytes(bytes);
    const auto known = [](int id) { return id < 0 ? std::nullopt : std::optional<TokenId>(id); };
    bos_ = known(processor_->bos_id());
    eos_ = known(processor_->eos_id());
    for (TokenId id = 0; id < size_; ++id) {
      if (processor_->IsControl(id)) special_tokens_.push_back({id, processor_->IdToPiece(id)});
    }
    observe_leading_space();
  }

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const override {
    const std::string valid = well_formed(text);
    std::vector<int> ids;
    check(processor_->Encode({valid.data(), valid.size()}, &ids));
    join_added_bytes(ids);
    return with_ends(std::move(ids), options);
  }

  size_t vocabulary_size() const override { return static_cast<size_t>(size_); }

  std::optional<std::string> token(TokenId id) const override {
    if (!has(id)) return std::nullopt;
    return processor_->IdToPiece(id);
  }

  std::optional<TokenId> id_of(std::string_view token) const override {
    const int id = processor_->PieceToId({token.data(), token.size()});
    if (!has(id) || processor_->IdToPiece(id) != token) return std::nullopt;
    return id;
  }

 private:
  bool has(TokenId id) const { return id >= 0 && id < size_; }

  // Adds byte pieces to a model without byte pieces. Without byte pieces, the library takes
  // quadratic time to join unknown characters. join_added_bytes() later replaces consecutive bytes
  // with one unknown piece. A model stays unchanged if its other pieces have the names of byte
  // pieces, or its self-test samples have unknown characters.
  void load_with_bytes(std::string_view bytes) {
    for (TokenId id = 0; id < size_; ++id) {
      if (processor_->IsByte(id) || byte_of_token(processor_->IdToPiece(id))) return;
      if (processor_->IsUnknown(id)) unknown_ = id;
    }
    std::string model(bytes);  // concatenated messages of a protocol buffer are merged
    for (int byte = 0; byte < 256; ++byte) {
      const std::string name = byte_token(static_cast<uint8_t>(byte));
      model += "\x0A\x0A\x0A\x06" + name + "\x18\x06";  // pieces: piece, type: BYTE
    }
    model += "\x12\x03\x98\x02\x01";  // trainer_spec.byte_fallback
    auto extended = std::make_unique<Processor>();
    if (extended->LoadFromSerializedProto({model.data(), model.size()}).ok()) {
      processor_ = std::move(extended);
    }
  }

  void join_added_bytes(std::vector<int>& ids) const {
    const auto are_added = [this](int a, int b) { return a >= size_ && b >= size_; };
    ids.erase(std::unique(ids.begin(), ids.end(), are_added), ids.end());
    for (int& id : ids) id = id < size_ ? id : unknown_;
  }

  // `Status` is Abseil's type from SentencePiece 0.2.2 on, and SentencePiece's own type before.
  template <class Status>
  void check(const Status& status) const {
    if (!status.ok()) throw TokenizerError(fmt::format("{}: {}", place_, status.ToString()));
  }

  // Finds how many leading spaces the library drops for this model. Decodes a piece that begins
  // with a space twice: alone, and after a piece that is only a space.
  void observe_leading_space() {
    std::optional<TokenId> first;
    for (TokenId id = 0; id < size_ && !first; ++id) {
      const bool is_plain =
          !processor_->IsControl(id) && !processor_->IsUnknown(id) && !processor_->IsByte(id);
      if (is_plain && processor_->IdToPiece(id).starts_with(kSpace)) first = id;
    }
    if (!first) return;
    const std::string text = decode({*first});
    drops_space_ = text != spaced(processor_->IdToPiece(*first));
    if (const auto space = id_of(kSpace)) {
      drops_all_spaces_ = drops_space_ && decode({*space, *first}) == text;
    }
  }

  static std::string spaced(std::string_view piece) {
    std::string text;
    for (size_t i = 0; i < piece.size();) {
      const bool is_space = piece.substr(i).starts_with(kSpace);
      text += is_space ? ' ' : piece[i];
      i += is_space ? kSpace.size() : 1;
    }
    return text;
  }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // from 0.2.2 on for Abseil's spans
  std::string decode(const std::vector<int>& ids) const {
    std::string text;
    check(processor_->Decode(ids, &text));
    return text;
  }
#pragma GCC diagnostic pop

  class Stream final : public DecodeStream {
   public:
    Stream(const SentencePieceTokenizer& tokenizer, const DecodeOptions& options)
        : tokenizer_(tokenizer),
          skip_special_(options.skip_special),
          at_start_(!options.continues) {}

    std::string push(TokenId id) override {
      if (id < 0) throw TokenizerError(fmt::format("{} is not a token id", id));
      if (!tokenizer_.has(id)) return "";
      const auto& processor = *tokenizer_.processor_;
      const std::string& piece = processor.IdToPiece(id);
      if (processor.IsByte(id)) {
        const auto byte = byte_of_token(piece);
        at_start_ = false;
        return bytes_.push(std::string(1, static_cast<char>(byte.value_or(0))));
      }
      if (processor.IsControl(id)) return bytes_.finish() + (skip_special_ ? "" : piece);
      std::string text = bytes_.finish();
      if (processor.IsUnknown(id)) {
        at_start_ = false;
        return text + tokenizer_.decode({id});
      }
      return text += with_spaces(piece);
    }
    std::string finish() override { return bytes_.finish(); }

   private:
    std::string with_spaces(std::string_view piece) {
      if (at_start_ && tokenizer_.drops_space_ && piece.starts_with(kSpace)) {
        piece.remove_prefix(kSpace.size());
        at_start_ = tokenizer_.drops_all_spaces_ && piece.empty();
      } else {
        at_start_ = at_start_ && piece.empty();
      }
      return spaced(piece);
    }

    const SentencePieceTokenizer& tokenizer_;
    bool skip_special_;
    bool at_start_;
    CharacterStream bytes_{Faults::kByByte};
  };

  std::unique_ptr<DecodeStream> make_stream(const DecodeOptions& options, bool) const override {
    return std::make_unique<Stream>(*this, options);
  }

  std::string place_;
  std::unique_ptr<Processor> processor_ = std::make_unique<Processor>();
  TokenId size_ = 0;               // number of pieces, without added bytes
  TokenId unknown_ = 0;            // replaces added bytes
  bool drops_space_ = false;       // decoding drops the space before the first word
  bool drops_all_spaces_ = false;  // decoding drops all spaces before the first word
};

}  // namespace

std::unique_ptr<Tokenizer> read_sentence_piece(std::string_view bytes, const std::string& place) {
  return std::make_unique<SentencePieceTokenizer>(bytes, place);
}

}  // namespace vitrine
