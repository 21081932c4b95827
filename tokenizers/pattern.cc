#include "tokenizers/pattern.h"

#include <fmt/format.h>
#include <unicode/regex.h>
#include <unicode/unistr.h>

#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

constexpr int32_t kStackBytes = 64 << 20;
// ICU counts in units of 10,000 steps. Patterns of tokenizers take tens of steps a character.
constexpr size_t kFreeUnits = 2000;
constexpr size_t kBytesPerUnit = 10;

// Bytes of UTF-8 that begin `text` and hold `units` of UTF-16.
size_t bytes_of_units(std::string_view text, int32_t units) {
  size_t bytes = 0;
  while (units > 0) {
    const auto lead = static_cast<unsigned char>(text[bytes]);
    const size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    units -= size == 4 ? 2 : 1;
    bytes += size;
  }
  return bytes;
}

}  // namespace

struct Pattern::Compiled {
  std::unique_ptr<icu::RegexPattern> pattern;
  std::string place;
};

Pattern::Pattern(const std::string& expression, const std::string& place)
    : compiled_(std::make_unique<Compiled>()) {
  compiled_->place = place;
  if (expression.size() > kMostBytes) {
    throw TokenizerError(fmt::format("{}: a pattern of {} bytes is longer than the {} accepted",
                                     place, expression.size(), kMostBytes));
  }
  UErrorCode status = U_ZERO_ERROR;
  UParseError where{};
  compiled_->pattern.reset(
      icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(expression), 0, where, status));
  if (U_FAILURE(status)) {
    throw TokenizerError(fmt::format("{}: is not a pattern: {} at character {}", place,
                                     u_errorName(status), where.offset));
  }
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

void Pattern::each_match(std::string_view text,
                         const std::function<void(size_t begin, size_t end)>& visit) const {
  const auto fail = [&](std::string_view what) {
    throw TokenizerError(fmt::format("{}: {}", compiled_->place, what));
  };
  const auto units = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::RegexMatcher> matcher(compiled_->pattern->matcher(units, status));
  if (U_FAILURE(status)) fail(u_errorName(status));
  matcher->setTimeLimit(static_cast<int32_t>(kFreeUnits + text.size() / kBytesPerUnit), status);
  matcher->setStackLimit(kStackBytes, status);

  int32_t unit = 0;  // where `byte` is in UTF-16
  size_t byte = 0;
  const auto advance = [&](int32_t to) {
    byte += bytes_of_units(text.substr(byte), to - unit);
    unit = to;
    return byte;
  };
  while (matcher->find(status) != 0) {
    const size_t begin = advance(matcher->start(status));
    visit(begin, advance(matcher->end(status)));
  }
  if (U_FAILURE(status)) {
    fail(fmt::format("the pattern takes too long on a text of {} bytes ({})", text.size(),
                     u_errorName(status)));
  }
}

}  // namespace vitrine
