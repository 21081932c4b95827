#include "tools/llm_runner/evaluated_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <string_view>

#include "runtime/core/printable.h"
#include "tools/common/files.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

constexpr size_t kFirstBytesPerToken = 8;
constexpr size_t kMaxBytesPerToken = 64;  // bounds the part of the file that is read
constexpr size_t kMinBytes = size_t{1} << 16;
// If encoding and decoding change a text's length by a larger fraction, a note reports the change.
// Most tokenizers drop a line break at the end, and some join spaces.
constexpr double kMaxUnnotedShare = 0.01;

// Returns the offset of the first byte that is not valid UTF-8.
std::optional<size_t> first_invalid(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    if (point.value == CodePoint::kInvalid) return at;
    at += point.bytes;
  }
  return std::nullopt;
}

// Reads the first `count` bytes. Sets `is_complete` if the file has no more bytes.
std::string read_start(const std::filesystem::path& path, size_t count, bool& is_complete) {
  std::ifstream file(path, std::ios::binary);
  std::string text(count + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) {
    throw ToolError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  is_complete = text.size() <= count;
  if (is_complete) return text;
  // Cuts before a space or line break, to keep characters and words whole.
  const size_t space = text.find_last_of(" \n", count);
  text.resize(space == std::string::npos || space == 0 ? count : space);
  return text;
}

// A pipe or a device can be read only once.
std::string read_all(const std::filesystem::path& path, bool& is_complete) {
  const std::vector<std::byte> bytes = read_file(path);
  is_complete = true;
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns how many bytes of text each id adds.
std::vector<double> decoded_bytes(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::vector<double> bytes;
  bytes.reserve(ids.size());
  const std::unique_ptr<DecodeStream> stream = tokenizer.stream();
  for (const TokenId id : ids) {
    bytes.push_back(static_cast<double>(stream->push(id).size()));
  }
  const std::string rest = stream->finish();
  if (!bytes.empty()) bytes.back() += static_cast<double>(rest.size());
  return bytes;
}

}  // namespace

std::string text_of(const Tokenizer& tokenizer, std::span<const TokenId> ids, size_t begin,
                    size_t end) {
  return tokenizer.decode(ids.subspan(begin, end - begin),
                          {.skip_special = false, .continues = begin != 0});
}

EvaluatedFile read_evaluated_file(const std::filesystem::path& path, const Tokenizer& tokenizer,
                                  size_t max_tokens) {
  EvaluatedFile file;
  file.name = path.filename().string();
  if (std::filesystem::is_directory(path)) {
    throw ToolError(fmt::format("{}: is a folder; expected a text file", path.string()));
  }
  const bool is_file = std::filesystem::is_regular_file(path);
  const size_t max_bytes = std::max(kMinBytes, max_tokens * kMaxBytesPerToken);
  std::string text;
  bool is_complete = false;
  for (size_t count = std::max(kMinBytes, max_tokens * kFirstBytesPerToken); !is_complete;
       count *= 2) {
    count = std::min(count, max_bytes);
    text = is_file ? read_start(path, count, is_complete) : read_all(path, is_complete);
    file.ids = tokenizer.encode(text, {.special_in_text = false});
    if (file.ids.size() > max_tokens || count == max_bytes) break;
  }
  if (text.empty()) throw ToolError(fmt::format("{}: the file is empty", path.string()));
  if (const std::optional<size_t> at = first_invalid(text)) {
    file.notes.push_back(fmt::format(
        "{}: byte {} is not UTF-8; the tokenizer decides how to read such bytes (most read U+FFFD)",
        file.name, *at));
  }
  file.token_bytes = decoded_bytes(tokenizer, file.ids);
  const auto size = static_cast<double>(text.size());
  const double sum = std::accumulate(file.token_bytes.begin(), file.token_bytes.end(), 0.0);
  for (double& bytes : file.token_bytes) bytes *= sum == 0 ? 0 : size / sum;
  if (std::abs(sum - size) > kMaxUnnotedShare * size) {
    file.notes.push_back(fmt::format(
        "{}: the tokenizer changes the text ({} bytes become {:.0f}); bits per byte refer "
        "to the bytes of the file",
        file.name, text.size(), sum));
  }
  file.is_truncated = !is_complete || file.ids.size() > max_tokens;
  if (file.ids.size() > max_tokens) {
    file.ids.resize(max_tokens);
    file.token_bytes.resize(max_tokens);
  }
  file.bytes = static_cast<uint64_t>(
      std::llround(std::accumulate(file.token_bytes.begin(), file.token_bytes.end(), 0.0)));
  return file;
}

}  // namespace vitrine::tools
