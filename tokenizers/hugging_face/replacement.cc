#include "tokenizers/hugging_face/replacement.h"

#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

constexpr size_t kMaxContentBytes = 256;

}  // namespace

const std::string& read_content(const JsonValue& json) {
  const std::string& content = json.string();
  if (content.size() > kMaxContentBytes) {
    json.fail(
        fmt::format("has {} bytes; at most {} are accepted", content.size(), kMaxContentBytes));
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

std::string Replacement::apply(std::string_view text, TextBudget& budget) const {
  const std::vector<TextRange> ranges = find_(text, budget);
  size_t removed = 0;
  for (const TextRange& range : ranges) removed += range.end - range.begin;
  budget.check_resize(removed, ranges.size() * content_.size());
  std::string out;
  size_t end = 0;
  for (const TextRange& range : ranges) {
    out.append(text, end, range.begin - end);
    out += content_;
    end = range.end;
  }
  out.append(text, end);
  return out;
}

}  // namespace vitrine::hugging_face
