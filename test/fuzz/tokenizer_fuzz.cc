// Fuzzes tokenizers of every format: loads the input, looks up each token, encodes texts, and
// decodes valid and invalid ids. Fails if an input takes too long.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/platform/clock.h"
#include "vitrine/tokenizer.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Requires that use() takes little processor time for `bytes` of input. The limit is ten times what
// TextBudget allows, since sanitizers slow the code down.
template <class Use>
void require_cheap(size_t bytes, Use use) {
  constexpr uint64_t kMaxNs = 5'000'000'000;
  constexpr uint64_t kMaxNsPerByte = 100'000;
  const uint64_t begin = vitrine::platform::thread_cpu_ns();
  use();
  require(vitrine::platform::thread_cpu_ns() - begin < kMaxNs + kMaxNsPerByte * bytes);
}

// Decodes `ids` and two invalid ids, in one call and then one id at a time.
void decode_all(const vitrine::Tokenizer& tokenizer, std::vector<vitrine::TokenId> ids) {
  ids.push_back(static_cast<vitrine::TokenId>(tokenizer.vocabulary_size()));
  ids.push_back(INT32_MAX);
  size_t bytes = 0;
  for (const vitrine::TokenId id : ids) bytes += 1 + tokenizer.token(id).value_or("").size();
  require_cheap(4 * bytes, [&] {
    for (const bool skip : {true, false}) {
      try {
        tokenizer.decode(ids, {.skip_special = skip});
        const auto stream = tokenizer.stream({.skip_special = skip, .continues = true});
        for (const vitrine::TokenId id : ids) stream->push(id);
        stream->finish();
      } catch (const vitrine::TokenizerError&) {  // the decoder exceeds its budget
      }
    }
  });
}

void use(const vitrine::Tokenizer& tokenizer, std::string_view text) {
  for (const bool special : {true, false}) {
    std::vector<vitrine::TokenId> ids;
    require_cheap(text.size(), [&] {
      try {
        ids = tokenizer.encode(text, {.add_template = special, .special_in_text = special});
      } catch (const vitrine::TokenizerError&) {  // the vocabulary cannot express the text
      }
    });
    for (const vitrine::TokenId id : ids) {
      require(id >= 0 && static_cast<size_t>(id) < tokenizer.vocabulary_size());
      require(tokenizer.token(id).has_value());
    }
    decode_all(tokenizer, std::move(ids));
  }
}

// Returns a text whose characters are from the tokenizer file, so that the patterns in the file
// match often.
std::string repeated_tail(std::string_view bytes) {
  constexpr size_t kTextBytes = 4096;
  std::string text;
  const std::string_view tail = bytes.substr(bytes.size() - bytes.size() / 64);
  while (!tail.empty() && text.size() < kTextBytes) text += tail;
  return text.substr(0, kTextBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    std::unique_ptr<vitrine::Tokenizer> tokenizer;
    require_cheap(size, [&] { tokenizer = vitrine::parse_tokenizer(bytes, "input"); });
    std::vector<vitrine::TokenId> all_ids;
    for (size_t id = 0; id < tokenizer->vocabulary_size() && id < 4096; ++id) {
      const auto token = tokenizer->token(static_cast<vitrine::TokenId>(id));
      if (token) tokenizer->id_of(*token);
      all_ids.push_back(static_cast<vitrine::TokenId>(id));
    }
    decode_all(*tokenizer, std::move(all_ids));
    use(*tokenizer,
        "Hello  wor\xC3\xA4ld<|end_of_text|>\n\t 12345 \xF0\x9F\x98\x80 aaaaab \xFF\xC3");
    use(*tokenizer, bytes.substr(size - size / 4 < 256 ? size / 2 : size - 256));
    use(*tokenizer, std::string(4096, 'a') + "bc");
    use(*tokenizer, repeated_tail(bytes));
  } catch (const vitrine::TokenizerError&) {  // errors are allowed
  }
  return 0;
}
