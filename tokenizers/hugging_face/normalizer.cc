#include "tokenizers/hugging_face/normalizer.h"

#include <map>
#include <memory>
#include <vector>

#include "tokenizers/byte_tokens.h"
#include "tokenizers/character_map.h"
#include "tokenizers/hugging_face/byte_level.h"
#include "tokenizers/hugging_face/replacement.h"
#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {
namespace {

// Fixed cost of splitting a text into graphemes, in steps of TextBudget.
constexpr uint64_t kStepsToSplitGraphemes = 500;

using MakeNormalizer = Normalizer (*)(const JsonValue& step, const std::string& place);

// Calls visit(out, character) for each character of `text`, and returns `out`.
template <class Visit>
std::string each_character(std::string_view text, Visit visit) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Character character = character_at(text, i);
    visit(out, character.value);
    i += character.size;
  }
  return out;
}

void drop_where(std::string& text, bool (*is_dropped)(char32_t)) {
  text = each_character(text, [&](std::string& out, char32_t c) {
    if (!is_dropped(c)) append_character(out, c);
  });
}

template <NormalForm kForm>
Normalizer make_form_normalizer(const JsonValue&, const std::string&) {
  return [](std::string& text, TextBudget& budget) {
    budget.take_steps(sorting_steps(text));
    text = normalized(text, kForm);
  };
}

Normalizer make_lowercase_normalizer(const JsonValue&, const std::string&) {
  return [](std::string& text, TextBudget&) { text = lower_case(text); };
}

Normalizer make_strip_accents_normalizer(const JsonValue&, const std::string&) {
  return [](std::string& text, TextBudget&) { drop_where(text, is_mark); };
}

Normalizer make_byte_level_normalizer(const JsonValue&, const std::string&) {
  return [](std::string& text, TextBudget&) { text = to_byte_level(text); };
}

Normalizer make_prepend_normalizer(const JsonValue& step, const std::string&) {
  return [content = read_content(step.at("prepend"))](std::string& text, TextBudget&) {
    if (!text.empty()) text.insert(0, content);
  };
}

Normalizer make_precompiled_normalizer(const JsonValue& step, const std::string& place) {
  const JsonValue json = step.at("precompiled_charsmap");
  const std::optional<std::string> bytes = base64_bytes(json.string());
  if (!bytes) json.fail("is not base64");
  const auto map = std::make_shared<const CharacterMap>(*bytes, place + ": normalizer");
  return [map](std::string& text, TextBudget& budget) {
    budget.take_steps(kStepsToSplitGraphemes);
    text = map->apply(text);
  };
}

Normalizer make_replace_normalizer(const JsonValue& step, const std::string& place) {
  const auto replacement = std::make_shared<const Replacement>(step, place + ": normalizer");
  return [replacement](std::string& text, TextBudget& budget) {
    text = replacement->apply(text, budget);
  };
}

Normalizer make_strip_normalizer(const JsonValue& step, const std::string&) {
  const bool left = step.at("strip_left").boolean();
  const bool right = step.at("strip_right").boolean();
  return [left, right](std::string& text, TextBudget&) {
    size_t first = std::string::npos;  // bounds of the remaining text
    size_t last = 0;
    for (size_t i = 0; i < text.size();) {
      const Character character = character_at(text, i);
      if (!is_white_space(character.value)) {
        if (first == std::string::npos) first = i;
        last = i + character.size;
      }
      i += character.size;
    }
    if (first == std::string::npos) {
      if (left || right) text.clear();
      return;
    }
    if (right) text.resize(last);
    if (left) text.erase(0, first);
  };
}

Normalizer make_nmt_normalizer(const JsonValue&, const std::string&) {
  static constexpr CharacterRange kDropped[] = {{0x01, 0x08}, {0x0B, 0x0B}, {0x0E, 0x1F},
                                                {0x7F, 0x7F}, {0x8F, 0x8F}, {0x9F, 0x9F}};
  static constexpr CharacterRange kSpaces[] = {{0x09, 0x0A},     {0x0C, 0x0D},     {0x1680, 0x1680},
                                               {0x200B, 0x200F}, {0x2028, 0x2029}, {0x2581, 0x2581},
                                               {0xFEFF, 0xFEFF}, {0xFFFD, 0xFFFD}};
  return [](std::string& text, TextBudget&) {
    text = each_character(text, [](std::string& out, char32_t c) {
      if (!is_in(kDropped, c)) append_character(out, is_in(kSpaces, c) ? U' ' : c);
    });
  };
}

// Drops control characters and replaces white space with spaces.
std::string clean(std::string_view text) {
  return each_character(text, [](std::string& out, char32_t c) {
    const bool is_layout = c == '\t' || c == '\n' || c == '\r';
    if (c == 0 || c == 0xFFFD || (!is_layout && is_control(c))) return;
    append_character(out, is_layout || is_white_space(c) ? ' ' : c);
  });
}

std::string spaced_ideographs(std::string_view text) {
  return each_character(text, [](std::string& out, char32_t c) {
    if (is_ideograph(c)) out += ' ';
    append_character(out, c);
    if (is_ideograph(c)) out += ' ';
  });
}

Normalizer make_bert_normalizer(const JsonValue& step, const std::string&) {
  const auto flag = [&](const char* key, bool otherwise) {
    return step.holds(key) ? step.at(key).boolean() : otherwise;
  };
  const bool lowercase = flag("lowercase", true);
  const bool strip = flag("strip_accents", lowercase);
  const bool cleans = flag("clean_text", true);
  const bool spaces = flag("handle_chinese_chars", true);
  return [=](std::string& text, TextBudget& budget) {
    if (cleans) text = clean(text);
    if (spaces) text = spaced_ideographs(text);
    if (strip) {
      budget.take_steps(sorting_steps(text));
      text = normalized(text, NormalForm::kNfd);
      drop_where(text, is_nonspacing_mark);
    }
    if (lowercase) text = lower_case(text);
  };
}

Normalizer make_sequence_normalizer(const JsonValue& step, const std::string& place) {
  std::vector<Normalizer> steps;
  step.at("normalizers").each_item([&](const JsonValue& item) {
    steps.push_back(read_normalizer(item, place));
  });
  return [steps = std::move(steps)](std::string& text, TextBudget& budget) {
    for (const Normalizer& next : steps) next(text, budget);
  };
}

const std::map<std::string_view, MakeNormalizer>& normalizer_makers() {
  static const std::map<std::string_view, MakeNormalizer> kMakers = {
      {"BertNormalizer", make_bert_normalizer},
      {"ByteLevel", make_byte_level_normalizer},
      {"Lowercase", make_lowercase_normalizer},
      {"NFC", make_form_normalizer<NormalForm::kNfc>},
      {"NFD", make_form_normalizer<NormalForm::kNfd>},
      {"NFKC", make_form_normalizer<NormalForm::kNfkc>},
      {"NFKD", make_form_normalizer<NormalForm::kNfkd>},
      {"Nmt", make_nmt_normalizer},
      {"Precompiled", make_precompiled_normalizer},
      {"Prepend", make_prepend_normalizer},
      {"Replace", make_replace_normalizer},
      {"Sequence", make_sequence_normalizer},
      {"Strip", make_strip_normalizer},
      {"StripAccents", make_strip_accents_normalizer},
  };
  return kMakers;
}

}  // namespace

Normalizer read_normalizer(const JsonValue& json, const std::string& place) {
  const JsonValue type = json.at("type");
  const auto maker = normalizer_makers().find(type.string());
  if (maker == normalizer_makers().end()) {
    type.fail(fmt::format("\"{}\" is not supported", type.string()));
  }
  Normalizer normalize = maker->second(json, place);
  if (maker->first == "Sequence") return normalize;
  return [normalize = std::move(normalize)](std::string& text, TextBudget& budget) {
    constexpr uint64_t kStepsPerCall = 20;
    constexpr uint64_t kStepsPerByte = 4;
    const size_t before = text.size();
    normalize(text, budget);
    budget.take_steps(kStepsPerCall + kStepsPerByte * (before + text.size()));
    budget.resize(before, text.size());
  };
}

}  // namespace vitrine::hugging_face
