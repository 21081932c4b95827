#include "tokenizers/hugging_face/tokenizer_json.h"

#include <algorithm>

#include "base/json.h"
#include "tokenizers/hugging_face/added_tokens.h"
#include "tokenizers/hugging_face/decoder.h"
#include "tokenizers/hugging_face/end_tokens.h"
#include "tokenizers/hugging_face/normalizer.h"
#include "tokenizers/hugging_face/post_processor.h"
#include "tokenizers/hugging_face/pre_tokenizer.h"
#include "tokenizers/hugging_face/word_model.h"
#include "tokenizers/unicode.h"

namespace vitrine {
namespace hugging_face {
namespace {

// Returns a default value if the member is absent or null.
template <class Read>
auto read_optional(const JsonValue& json, const char* key, Read read) {
  return json.holds(key) ? read(json.at(key)) : decltype(read(json.at(key)))();
}

class TokenStream final : public DecodeStream {
 public:
  TokenStream(const Tokenizer& tokenizer, const AddedTokens& added, const Decoder& decoder,
              const std::string& place, const DecodeOptions& options, bool eager)
      : tokenizer_(tokenizer),
        added_(added),
        skip_special_(options.skip_special),
        budget_(place, 0) {
    decoder(steps_, {options.continues, eager, budget_});
  }

  std::string push(TokenId id) override {
    if (id < 0) throw TokenizerError(fmt::format("{} is not a token id", id));
    const AddedToken* added = added_.find(id);
    if (added != nullptr && added->special && skip_special_) return "";
    std::optional<std::string> token =
        added != nullptr ? added->normalized_text.value_or(added->text) : tokenizer_.token(id);
    if (!token) return "";
    budget_.add_text(token->size() + kBytesPerToken);
    return run({{std::move(*token)}}, false);
  }

  std::string finish() override { return run({}, true); }

 private:
  // Extra bytes of the budget for each token. Decoding steps may insert spaces.
  static constexpr size_t kBytesPerToken = 16;

  std::string run(DecodedPieces pieces, bool is_end) {
    constexpr uint64_t kStepsPerCall = 10;
    constexpr uint64_t kStepsPerByte = 4;
    for (const auto& step : steps_) {
      const size_t before = size_of_text(pieces);
      budget_.take_steps(kStepsPerCall * (pieces.size() + 1) + kStepsPerByte * before);
      DecodedPieces out;
      for (DecodedPiece& piece : pieces) step->push(std::move(piece), out);
      if (is_end) step->finish(out);
      pieces = std::move(out);
      budget_.resize(before, size_of_text(pieces));
    }
    std::string text;
    for (const DecodedPiece& piece : pieces) text += piece.text;
    return text;
  }

  static size_t size_of_text(const DecodedPieces& pieces) {
    size_t bytes = 0;
    for (const DecodedPiece& piece : pieces) bytes += piece.text.size();
    return bytes;
  }

  const Tokenizer& tokenizer_;
  const AddedTokens& added_;
  bool skip_special_;
  TextBudget budget_;  // one budget for all tokens of the stream
  DecodeSteps steps_;
};

class TokenizerJson final : public Tokenizer {
 public:
  TokenizerJson(const JsonValue& json, const std::string& place)
      : place_(place),
        normalizer_(read_optional(json, "normalizer",
                                  [&](const JsonValue& v) { return read_normalizer(v, place); })),
        pre_tokenizer_(
            read_optional(json, "pre_tokenizer",
                          [&](const JsonValue& v) { return read_pre_tokenizer(v, place); })),
        model_(read_word_model(json.at("model"), place)),
        frame_(read_optional(json, "post_processor", read_post_processor)),
        decoder_(json.holds("decoder") ? read_decoder(json.at("decoder"), place) : space_decoder()),
        added_(read_optional(json, "added_tokens", [&](const JsonValue& v) {
          return AddedTokens(v, tokens(), normalizer_, place + ": added_tokens");
        })) {
    form_ = "Hugging Face " + word_model_type(json.at("model"));
    size_ = tokens().size();
    for (const AddedToken& token : added_.tokens()) {
      size_ = std::max(size_, static_cast<size_t>(token.id) + 1);
      if (token.special) special_tokens_.push_back({token.id, token.text});
    }
    for (const auto* ids : {&frame_.before, &frame_.after}) {
      for (const TokenId id : *ids) {
        if (TokenizerJson::token(id)) continue;
        throw TokenizerError(fmt::format("{}: post_processor: no token has the id {}", place, id));
      }
    }
  }

  void set_ends(const EndTokens& ends) {
    bos_ = ends.bos;
    eos_ = ends.eos;
  }

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const override {
    TextBudget budget(place_, text.size());
    TextPieces pieces;
    pieces.push_back({.text = well_formed(text), .at_start = true});
    added_.split(pieces, false, options.special_in_text, budget);
    if (normalizer_) {
      for (TextPiece& piece : pieces) {
        if (!piece.id) normalizer_(piece.text, budget);
      }
    }
    added_.split(pieces, true, options.special_in_text, budget);
    if (pre_tokenizer_) pre_tokenizer_(pieces, budget);

    std::vector<TokenId> ids;
    if (options.add_template && !options.continues) ids = frame_.before;
    for (const TextPiece& piece : pieces) {
      if (piece.id) {
        ids.push_back(*piece.id);
      } else {
        model_->encode(piece.text, ids, budget);
      }
    }
    if (options.add_template) ids.insert(ids.end(), frame_.after.begin(), frame_.after.end());
    return with_ends(std::move(ids), options);
  }

  size_t vocabulary_size() const override { return size_; }

  std::optional<std::string> token(TokenId id) const override {
    if (const AddedToken* added = added_.find(id)) return added->text;
    const std::string* text = tokens().text(id);
    return text == nullptr ? std::nullopt : std::optional(*text);
  }

  std::optional<TokenId> id_of(std::string_view token) const override {
    if (const AddedToken* added = added_.find(token)) return added->id;
    return tokens().find(token);
  }

 private:
  const TokenTable& tokens() const { return model_->tokens(); }

  std::unique_ptr<DecodeStream> make_stream(const DecodeOptions& options,
                                            bool eager) const override {
    return std::make_unique<TokenStream>(*this, added_, decoder_, place_, options, eager);
  }

  std::string place_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  std::unique_ptr<WordModel> model_;
  TextFrame frame_;
  Decoder decoder_;
  AddedTokens added_;
  size_t size_ = 0;
};

}  // namespace
}  // namespace hugging_face

std::unique_ptr<Tokenizer> read_tokenizer_json(const JsonValue& root, const std::string& place,
                                               std::string_view config,
                                               const std::string& config_place) {
  auto tokenizer = std::make_unique<hugging_face::TokenizerJson>(root, place);
  tokenizer->set_ends(config.empty()
                          ? hugging_face::guess_end_tokens(tokenizer->special_tokens())
                          : hugging_face::read_end_tokens(config, config_place, *tokenizer));
  return tokenizer;
}

}  // namespace vitrine
