// Tokenizers of language models turn text into token ids, and ids into text.
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

// Thrown if a tokenizer file is damaged or not supported, or if a tokenizer cannot encode or decode
// something. what() names the file, the position and the problem.
class TokenizerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SpecialToken {
  TokenId id;
  std::string text;
};

struct EncodeOptions {
  // Numbers of begin tokens before the text, and of end tokens after the text. encode() throws
  // TokenizerError if the tokenizer does not have such a token.
  size_t num_bos = 0;
  size_t num_eos = 0;
  // Adds the tokens that a tokenizer.json puts around a text (post-processor). Other kinds of
  // tokenizer files contain no such tokens.
  bool add_template = false;
  // Names of special tokens in the text become special tokens. Set to false for untrusted text, so
  // that the text cannot end a turn.
  bool special_in_text = true;
  // The text continues an earlier text, so `add_template` adds no tokens before the text.
  bool continues = false;
};

struct DecodeOptions {
  bool skip_special = true;  // omits the names of special tokens
  // The ids continue an earlier text, so the space before the first word is kept.
  bool continues = false;
};

// Decodes ids one at a time. Returns only complete characters, as soon as later ids cannot change
// them. Not thread-safe. The tokenizer must outlive the stream.
class DecodeStream {
 public:
  virtual ~DecodeStream() = default;
  // Returns the text that the id adds, which may be empty. Throws TokenizerError if the id is
  // negative.
  virtual std::string push(TokenId id) = 0;
  // Returns the remaining text. Bytes of an incomplete character become U+FFFD.
  virtual std::string finish() = 0;
};

// Immutable, so that threads may share a tokenizer.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // `text` is UTF-8. Invalid bytes become U+FFFD, one for each maximal subpart, as Unicode
  // recommends. Tokenizers of the llama2.c form encode invalid bytes unchanged.
  virtual std::vector<TokenId> encode(std::string_view text,
                                      const EncodeOptions& options = {}) const = 0;

  // Omits unknown ids. Throws TokenizerError if an id is negative.
  std::string decode(std::span<const TokenId> ids, const DecodeOptions& options = {}) const;
  std::unique_ptr<DecodeStream> stream(const DecodeOptions& options = {}) const {
    return make_stream(options, true);
  }

  // The highest token id plus one.
  virtual size_t vocabulary_size() const = 0;
  // The token as in the vocabulary ("Ġthe", "▁the", "<0x0A>"), or nothing for an unknown id.
  virtual std::optional<std::string> token(TokenId id) const = 0;
  virtual std::optional<TokenId> id_of(std::string_view token) const = 0;

  std::optional<TokenId> bos() const { return bos_; }
  std::optional<TokenId> eos() const { return eos_; }
  const std::vector<SpecialToken>& special_tokens() const { return special_tokens_; }
  // For example, "SentencePiece" or "Hugging Face BPE".
  const std::string& form() const { return form_; }

 protected:
  // An eager stream returns a character as soon as its bytes are complete. Other streams decode a
  // run of byte tokens when the run ends, as Hugging Face's library does.
  virtual std::unique_ptr<DecodeStream> make_stream(const DecodeOptions& options,
                                                    bool eager) const = 0;
  // Adds the begin and end ids of `options` to the ids of a text.
  std::vector<TokenId> with_ends(std::vector<TokenId> ids, const EncodeOptions& options) const;

  std::string form_;
  std::optional<TokenId> bos_;
  std::optional<TokenId> eos_;
  std::vector<SpecialToken> special_tokens_;
};

// Loads a tokenizer from a file. The content determines the form: a SentencePiece model, a
// tokenizer.json of Hugging Face, a tekken.json, ranks of tiktoken, or the binary form of llama2.c.
// `path` may also be a folder with a tokenizer.json. A tokenizer_config.json next to the
// tokenizer.json names the begin and end tokens. Throws TokenizerError.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);
// Reads a tokenizer from the bytes of a file. `place` names the file in errors.
std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view bytes, const std::string& place);

}  // namespace vitrine
