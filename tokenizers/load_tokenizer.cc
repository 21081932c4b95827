#include <fmt/format.h>

#include <span>

#include "base/format_error.h"
#include "base/json.h"
#include "runtime/platform/file.h"
#include "tokenizers/byte_tokens.h"
#include "tokenizers/hugging_face/tokenizer_json.h"
#include "tokenizers/llama2c.h"
#include "tokenizers/ranked_bytes.h"
#include "tokenizers/sentence_piece.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxJsonDepth = 64;
// Maximum size of a tokenizer file. The largest known files have 35 MB.
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;
constexpr const char* kTokenizerJson = "tokenizer.json";
constexpr const char* kTokenizerConfig = "tokenizer_config.json";

std::string read_file(const fs::path& path) {
  const Result<platform::File> file = platform::File::open(path.c_str());
  if (!file.ok()) throw TokenizerError(file.error().message());
  const uint64_t size = file->size();
  if (size > kMaxFileBytes) {
    throw TokenizerError(fmt::format("{}: has {} bytes; a tokenizer file has at most {}",
                                     path.string(), size, kMaxFileBytes));
  }
  std::string text(size, '\0');
  const Error error = file->read(0, std::as_writable_bytes(std::span(text)));
  if (!error.ok()) throw TokenizerError(fmt::format("{}: {}", path.string(), error.message()));
  return text;
}

bool begins_as_json(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{';
}

// True if the first line begins with base64, a space and a digit.
bool begins_as_tiktoken(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const size_t space = line.find(' ');
  return space != std::string_view::npos && base64_bytes(line.substr(0, space)).has_value() &&
         space + 1 < line.size() && line[space + 1] >= '0' && line[space + 1] <= '9';
}

// True if the file begins like a SentencePiece model: with a piece whose first field is a text.
bool begins_as_sentence_piece(std::string_view bytes) {
  return bytes.size() > 4 && bytes[0] == '\n' &&
         (bytes[2] == '\n' || ((bytes[1] & 0x80) != 0 && bytes[3] == '\n'));
}

std::unique_ptr<Tokenizer> read(std::string_view bytes, const std::string& place,
                                std::string_view config, const std::string& config_place) {
  if (begins_as_json(bytes)) {
    const JsonDocument document(bytes, place, kMaxJsonDepth);
    const JsonValue root = document.root();
    if (root.has("model")) return read_tokenizer_json(root, place, config, config_place);
    if (root.has("config") && root.has("vocab")) return read_tekken(root, place);
    throw TokenizerError(place +
                         ": is neither a tokenizer.json, which has a \"model\", nor a "
                         "tekken.json, which has a \"vocab\"");
  }
  if (begins_as_tiktoken(bytes)) return read_tiktoken(bytes, place);
  if (begins_as_sentence_piece(bytes)) return read_sentence_piece(bytes, place);
  try {
    return read_llama2c(bytes, place);
  } catch (const TokenizerError& error) {
    throw TokenizerError(
        fmt::format("{}: is not a JSON, tiktoken or SentencePiece file, and cannot be read "
                    "as a llama2.c file: {}",
                    place, error.what()));
  }
}

std::unique_ptr<Tokenizer> read_checked(std::string_view bytes, const std::string& place,
                                        std::string_view config = {},
                                        const std::string& config_place = {}) {
  try {
    return read(bytes, place, config, config_place);
  } catch (const FormatError& error) {
    throw TokenizerError(error.what());
  }
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path) {
  const fs::path file = fs::is_directory(path) ? path / kTokenizerJson : path;
  const fs::path config = file.parent_path() / kTokenizerConfig;
  const std::string bytes = read_file(file);
  const bool has_config = begins_as_json(bytes) && fs::is_regular_file(config);
  return read_checked(bytes, file.string(), has_config ? read_file(config) : std::string(),
                      config.string());
}

std::unique_ptr<Tokenizer> parse_tokenizer(std::string_view bytes, const std::string& place) {
  return read_checked(bytes, place);
}

}  // namespace vitrine
