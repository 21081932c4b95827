#include "tokenizers/sentence_piece.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include "tokenizers/byte_tokens.h"
#include "tokenizers/unicode.h"

namespace vitrine {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581

class SentencePieceTokenizer final : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string_view bytes, const std::string& place) : place_(place) {
    form_ = "SentencePiece";
    if (const auto status = processor_.LoadFromSerializedProto({bytes.data(), bytes.size()});
        !status.ok()) {
      throw TokenizerError(
          fmt::format("{}: SentencePiece cannot read these {} bytes as its model: cut off or "
                      "damaged? ({})",
                      place, bytes.size(), status.ToString()));
    }
    const auto known = [](int id) { return id < 0 ? std::nullopt : std::optional<TokenId>(id); };
    bos_ = known(processor_.bos_id());
    eos_ = known(processor_.eos_id());
    for (TokenId id = 0; id < processor_.GetPieceSize(); ++id) {
      if (processor_.IsControl(id)) special_tokens_.push_back({id, processor_.IdToPiece(id)});
    }
    observe_leading_space();
  }

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const override {
    const std::string valid = well_formed(text);
    std::vector<int> ids;
    check(processor_.Encode({valid.data(), valid.size()}, &ids));
    return with_ends(std::move(ids), options);
  }

  size_t vocabulary_size() const override { return static_cast<size_t>(processor_.GetPieceSize()); }

  std::optional<std::string> token(TokenId id) const override {
    if (!has(id)) return std::nullopt;
    return processor_.IdToPiece(id);
  }

  std::optional<TokenId> id_of(std::string_view token) const override {
    const int id = processor_.PieceToId({token.data(), token.size()});
    if (!has(id) || processor_.IdToPiece(id) != token) return std::nullopt;
    return id;
  }

 private:
  bool has(TokenId id) const { return id >= 0 && id < processor_.GetPieceSize(); }

  // Of SentencePiece's own type, or Abseil's from 0.2.2 on.
  template <class Status>
  void check(const Status& status) const {
    if (!status.ok()) throw TokenizerError(fmt::format("{}: {}", place_, status.ToString()));
  }

  // The model says what becomes of the space before the first word, the library's headers do not:
  // decode a word, and a space and a word.
  void observe_leading_space() {
    std::optional<TokenId> word;
    for (TokenId id = 0; id < processor_.GetPieceSize() && !word; ++id) {
      const std::string& piece = processor_.IdToPiece(id);
      const bool is_plain =
          !processor_.IsControl(id) && !processor_.IsUnknown(id) && !processor_.IsByte(id);
      if (is_plain && piece.starts_with(kSpace) && piece.size() > kSpace.size()) word = id;
    }
    if (!word) return;
    drops_space_ = !decode({*word}).starts_with(' ');
    if (const auto space = id_of(kSpace)) {
      drops_all_spaces_ = drops_space_ && !decode({*space, *word}).starts_with(' ');
    }
  }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // from 0.2.2 on for Abseil's spans
  std::string decode(const std::vector<int>& ids) const {
    std::string text;
    check(processor_.Decode(ids, &text));
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
      const auto& processor = tokenizer_.processor_;
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
      std::string text;
      for (size_t i = 0; i < piece.size();) {
        const bool is_space = piece.substr(i).starts_with(kSpace);
        text += is_space ? ' ' : piece[i];
        i += is_space ? kSpace.size() : 1;
      }
      return text;
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
  sentencepiece::SentencePieceProcessor processor_;
  bool drops_space_ = false;       // the one before the first word
  bool drops_all_spaces_ = false;  // however many there are
};

}  // namespace

std::unique_ptr<Tokenizer> read_sentence_piece(std::string_view bytes, const std::string& place) {
  return std::make_unique<SentencePieceTokenizer>(bytes, place);
}

}  // namespace vitrine
