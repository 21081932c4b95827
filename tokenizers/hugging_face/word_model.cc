#include "tokenizers/hugging_face/word_model.h"

#include "tokenizers/byte_tokens.h"

namespace vitrine::hugging_face {
namespace {

struct ModelReader {
  std::string_view type;
  std::unique_ptr<WordModel> (*read)(const JsonValue& json, const std::string& place);
};

constexpr ModelReader kReaders[] = {
    {"BPE", read_bpe},
    {"Unigram", read_unigram},
    {"WordLevel", read_word_level},
    {"WordPiece", read_word_piece},
};

}  // namespace

std::string word_model_type(const JsonValue& json) {
  if (json.holds("type")) return json.at("type").string();
  if (json.has("merges")) return "BPE";
  return json.has("unk_id") ? "Unigram" : "WordPiece";
}

std::unique_ptr<WordModel> read_word_model(const JsonValue& json, const std::string& place) {
  const std::string type = word_model_type(json);
  for (const ModelReader& reader : kReaders) {
    if (reader.type == type) return reader.read(json, place);
  }
  json.fail(
      fmt::format("has type \"{}\"; BPE, Unigram, WordLevel and WordPiece are supported", type));
}

TokenTable read_vocabulary(const JsonValue& json, const std::string& place) {
  std::vector<TokenTable::Entry> entries;
  json.each_member([&](const std::string& token, const JsonValue& id) {
    entries.push_back({token, id.integer()});
  });
  return {std::move(entries), place + ": model.vocab"};
}

std::string optional_string(const JsonValue& json, const char* key) {
  return json.holds(key) ? json.at(key).string() : std::string();
}

std::optional<std::vector<TokenId>> ids_of_bytes(const TokenTable& tokens, std::string_view text,
                                                 TextBudget& budget) {
  constexpr uint64_t kStepsPerByte = 10;
  budget.take_steps(kStepsPerByte * text.size());
  std::vector<TokenId> ids;
  for (const char byte : text) {
    const auto id = tokens.find(byte_token(static_cast<uint8_t>(byte)));
    if (!id) return std::nullopt;
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace vitrine::hugging_face
