// Tokenizers of every form: load, look at each token, encode texts, decode what comes and what does
// not exist.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "vitrine/tokenizer.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Whole, and token by token.
void decode_all(const vitrine::Tokenizer& tokenizer, std::vector<vitrine::TokenId> ids) {
  ids.push_back(static_cast<vitrine::TokenId>(tokenizer.vocabulary_size()));
  ids.push_back(INT32_MAX);
  for (const bool skip : {true, false}) {
    tokenizer.decode(ids, {.skip_special = skip});
    const auto stream = tokenizer.stream({.skip_special = skip, .continues = true});
    for (const vitrine::TokenId id : ids) stream->push(id);
    stream->finish();
  }
}

void use(const vitrine::Tokenizer& tokenizer, std::string_view text) {
  for (const bool special : {true, false}) {
    std::vector<vitrine::TokenId> ids;
    try {
      ids = tokenizer.encode(text, {.add_template = special, .special_in_text = special});
    } catch (const vitrine::TokenizerError&) {  // a text that the vocabulary cannot express
    }
    for (const vitrine::TokenId id : ids) {
      require(id >= 0 && static_cast<size_t>(id) < tokenizer.vocabulary_size());
      require(tokenizer.token(id).has_value());
    }
    decode_all(tokenizer, std::move(ids));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto tokenizer = vitrine::parse_tokenizer(bytes, "input");
    std::vector<vitrine::TokenId> every;
    for (size_t id = 0; id < tokenizer->vocabulary_size() && id < 4096; ++id) {
      const auto token = tokenizer->token(static_cast<vitrine::TokenId>(id));
      if (token) tokenizer->id_of(*token);
      every.push_back(static_cast<vitrine::TokenId>(id));
    }
    decode_all(*tokenizer, std::move(every));
    use(*tokenizer,
        "Hello  wor\xC3\xA4ld<|end_of_text|>\n\t 12345 \xF0\x9F\x98\x80 aaaaab \xFF\xC3");
    use(*tokenizer, bytes.substr(size - size / 4 < 256 ? size / 2 : size - 256));
  } catch (const vitrine::TokenizerError&) {  // an error is a right answer
  }
  return 0;
}
