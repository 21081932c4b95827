#include "tokenizers/hugging_face/script_runs.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <optional>

#include "tokenizers/unicode.h"

namespace vitrine::hugging_face {
namespace {

// Hugging Face's library uses the scripts of Unicode 9.
constexpr uint8_t kReferenceVersion = 9;

struct OtherScript {
  char32_t character;
  UScriptCode script;
};

// Characters to which Hugging Face's library and ICU give different scripts.
constexpr OtherScript kOthers[] = {
    {0x0589, USCRIPT_COMMON},      // Armenian full stop
    {0x061C, USCRIPT_COMMON},      // Arabic letter mark
    {0x0953, USCRIPT_DEVANAGARI},  // Devanagari grave accent
    {0x0954, USCRIPT_DEVANAGARI},  // Devanagari acute accent
    {0x30FC, USCRIPT_HAN},         // prolonged sound mark, Common in Unicode
};

// Returns nullopt if the character belongs to the script of the preceding character.
std::optional<UScriptCode> script_of(char32_t c) {
  if (c == ' ') return std::nullopt;
  const auto* other = std::ranges::find(kOthers, c, &OtherScript::character);
  if (other != std::end(kOthers)) return other->script;
  UVersionInfo age{};
  u_charAge(static_cast<UChar32>(c), age);
  if (age[0] > kReferenceVersion) return std::nullopt;
  UErrorCode status = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &status);
  if (U_FAILURE(status) || script == USCRIPT_UNKNOWN) return std::nullopt;
  return script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA ? USCRIPT_HAN : script;
}

}  // namespace

std::vector<TextRange> script_runs(std::string_view text) {
  std::vector<TextRange> runs;
  std::optional<UScriptCode> last;
  for (size_t i = 0; i < text.size();) {
    const Character character = character_at(text, i);
    const std::optional<UScriptCode> script = script_of(character.value);
    if (script && script != last) {
      runs.push_back({i, i});
      last = script;
    }
    i += character.size;
    if (!runs.empty()) runs.back().end = i;
  }
  return runs;
}

}  // namespace vitrine::hugging_face
