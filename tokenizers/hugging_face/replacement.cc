#include "tokenizers/hugging_face/replacement.h"

#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

constexpr size_t kMostContentBytes = 256;

}  // namespace

const std::string& read_content(const JsonValue& json) {
  const std::string& content = json.string();
  if (content.size() > kMostContentBytes) {
    json.fail(
        fmt::format("has {} bytes, more than the {} accepted", content.size(), kMostContentBytes));
  }
  return content;
}

const std::string& one_character(const JsonValue& json) {
  const std::string& text = json.string();
  if (count_characters(text) != 1) json.fail("is not one character");
  return text;
}

Replacement::Replacement(const JsonValue& step, const std::string& place)
    : find_(read_pattern(step.at("pattern"), place)), content_(read_content(step.at("content"))) {}

std::string Replacement::apply(std::string_view text) const {
  std::string out;
  size_t end = 0;
  for (const TextRange& range : find_(text)) {
    out.append(text, end, range.begin - end);
    out += content_;
    end = range.end;
  }
  out.append(text, end);
  return out;
}

}  // namespace vitrine::hugging_face
