#include "tokenizers/hugging_face/end_tokens.h"

#include <initializer_list>

#include "base/json.h"

namespace vitrine::hugging_face {
namespace {

std::optional<TokenId> guess(const std::vector<SpecialToken>& tokens,
                             std::initializer_list<std::string_view> parts,
                             std::string_view otherwise) {
  std::optional<TokenId> first;
  for (const auto& [id, text] : tokens) {
    for (const std::string_view part : parts) {
      if (text.find(part) == std::string::npos) continue;
      if (text.find("text") != std::string::npos) return id;
      if (!first) first = id;
    }
  }
  for (const auto& [id, text] : tokens) {
    if (!first && text == otherwise) first = id;
  }
  return first;
}

}  // namespace

EndTokens guess_end_tokens(const std::vector<SpecialToken>& tokens) {
  return {guess(tokens, {"bos", "begin"}, "<s>"), guess(tokens, {"eos", "end"}, "</s>")};
}

EndTokens read_end_tokens(std::string_view config, const std::string& place,
                          const Tokenizer& tokenizer) {
  const JsonDocument document(config, place, 64);
  const JsonValue root = document.root();
  const auto read = [&](const char* key) -> std::optional<TokenId> {
    if (!root.holds(key)) return std::nullopt;
    JsonValue name = root.at(key);
    if (!name.is_string()) name = name.at("content");
    const std::optional<TokenId> id = tokenizer.id_of(name.string());
    if (!id) name.fail(fmt::format("\"{}\" is not in the vocabulary", name.string()));
    return id;
  };
  return {read("bos_token"), read("eos_token")};
}

}  // namespace vitrine::hugging_face
