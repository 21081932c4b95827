// Text to token ids and back, for language models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

using TokenId = int32_t;

// A tokenizer file that is damaged or holds what is not supported, or a request that a tokenizer
// cannot serve: what() names the file, the place in it and what is wrong.
class TokenizerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SpecialToken {
  TokenId id;
  std::string text;
};

struct EncodeOptions {
  size_t num_bos = 0;  // begin ids before the text; TokenizerError if the tokenizer knows none
  size_t num_eos = 0;  // end ids after it, likewise
  // The tokens that the file itself puts around a text (the post-processor of a tokenizer.json).
  // Files of other forms have no such rule.
  bool add_template = false;
  // Whether names of special tokens in the text stand for these tokens. False for text of users who
  // must not be able to end a turn.
  bool special_in_text = true;
  // The ids continue a text: nothing of what `add_template` puts before one.
  bool continues = false;
};

struct DecodeOptions {
  bool skip_special = true;  // special tokens give no text
  // The ids continue a text: the space that belongs to the first word is kept.
  bool continues = false;
};

// Ids in, text out as soon as it is certain: whole characters only. Not thread-safe; used no longer
// than its tokenizer lives.
class DecodeStream {
 public:
  virtual ~DecodeStream() = default;
  // What the id adds to the text, perhaps nothing yet. TokenizerError if it is negative.
  virtual std::string push(TokenId id) = 0;
  // The rest. Bytes that never became a character give U+FFFD.
  virtual std::string finish() = 0;
};

// Immutable: threads may share one.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // `text` is UTF-8. Where it is not, each longest run that could begin a character counts as one
  // U+FFFD, as Unicode recommends; the llama2.c form takes the bytes as they are.
  virtual std::vector<TokenId> encode(std::string_view text,
                                      const EncodeOptions& options = {}) const = 0;

  // Ids that the tokenizer does not know give no text, as vocabularies have gaps and models' are
  // padded; negative ones are errors.
  std::string decode(std::span<const TokenId> ids, const DecodeOptions& options = {}) const;
  std::unique_ptr<DecodeStream> stream(const DecodeOptions& options = {}) const {
    return make_stream(options, true);
  }

  // The highest id and one.
  virtual size_t vocabulary_size() const = 0;
  // As the vocabulary has it ("Ġthe", "▁the", "<0x0A>"); nothing if there is no such id.
  virtual std::optional<std::string> token(TokenId id) const = 0;
  virtual std::optional<TokenId> id_of(std::string_view token) const = 0;

  std::optional<TokenId> bos() const { return bos_; }
  std::optional<TokenId> eos() const { return eos_; }
  const std::vector<SpecialToken>& special_tokens() const { return special_tokens_; }
  // "SentencePiece", "Hugging Face BPE", ...
  const std::string& form() const { return form_; }

 protected:
  // `eager`: a character is given as soon as its bytes are complete. Else, a run of byte tokens is
  // judged whole, as the reference does.
  virtual std::unique_ptr<DecodeStream> make_stream(const DecodeOptions& options,
                                                    bool eager) const = 0;
  // Puts the begin and end ids around what encodes a text.
  std::vector<TokenId> with_ends(std::vector<TokenId> ids, const EncodeOptions& options) const;

  std::string form_;
  std::optional<TokenId> bos_;
  std::optional<TokenId> eos_;
  std::vector<SpecialToken> special_tokens_;
};

// Recognises the form of a file by its content: SentencePiece's model, Hugging Face's
// tokenizer.json (or a folder that holds one; tokenizer_config.json beside it names begin and end),
// tiktoken's ranks, the binary form of llama2.c. Throws TokenizerError.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);
// The same from a file's bytes; `place` names them in errors.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view bytes, const std::string& place);

}  // namespace vitrine
