#include "tokenizers/character_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "tokenizers/text_budget.h"
#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

constexpr size_t kUnitBytes = 4;
constexpr size_t kMaxTrieBytes = 4 << 20;
constexpr size_t kMaxGraphemeBytes = 5;  // maximum size of a grapheme that is replaced as a whole
constexpr int kMaxNestedTexts = 32;      // size of a table in SentencePiece

uint32_t little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = kUnitBytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// These functions return the fields of a unit.
uint32_t offset_of(uint32_t unit) { return unit >> 10 << ((unit & 1U << 9) >> 6); }
bool has_value(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t value_of(uint32_t unit) { return unit & 0x7FFFFFFFU; }
uint32_t label_of(uint32_t unit) { return unit & 0x800000FFU; }

// Checks all paths of a trie. The state of a search is a "base": the index of the current unit XOR
// the offset of that unit. The next byte b leads to the unit with the index base XOR b.
class TrieCheck {
 public:
  TrieCheck(const std::vector<uint32_t>& units, std::string_view replacements,
            const std::string& place)
      : units_(units), replacements_(replacements), place_(place), states_(units.size()) {}

  void run() {
    check_depths();
    check_nesting();
  }

 private:
  struct BaseState {
    bool is_known = false;
    bool is_open = false;  // true: the base is on the current path
    int num_nested = -1;   // values on the longest path from here; -1: not known
  };

  [[noreturn]] void fail(std::string_view what) const {
    throw TokenizerError(fmt::format("{}: precompiled_charsmap: {}", place_, what));
  }

  // Calls visit(unit index, next base) for each byte that leads from `base` to another unit.
  template <class Visit>
  void each_next(uint32_t base, Visit visit) const {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t index = base ^ byte;
      if (label_of(units_[index]) == byte) visit(index, index ^ offset_of(units_[index]));
    }
  }

  void check_base(uint32_t base) const {
    if ((base | 0xFF) >= units_.size()) {
      fail(fmt::format("the trie leads to unit {}, but has only {} units", base | 0xFF,
                       units_.size()));
    }
  }

  // Visits bases in breadth-first order, so the shortest text reaches a base first. The shortest
  // text has the strictest limit on its replacement.
  void check_depths() {
    std::vector<uint32_t> level = {offset_of(units_[0])};
    check_base(level[0]);
    states_[level[0]].is_known = true;
    for (size_t depth = 1; !level.empty(); ++depth) {
      std::vector<uint32_t> next_level;
      for (const uint32_t base : level) {
        each_next(base, [&](uint32_t index, uint32_t next) {
          check_base(next);
          if (has_value(units_[index])) check_replacement(value_of(units_[next]), depth);
          if (states_[next].is_known) return;
          states_[next].is_known = true;
          next_level.push_back(next);
        });
      }
      level = std::move(next_level);
    }
  }

  void check_replacement(uint32_t begin, size_t text_size) const {
    const bool is_inside = begin <= replacements_.size();
    const bool is_in_character =
        is_inside && begin < replacements_.size() && (replacements_[begin] & 0xC0) == 0x80;
    if (!is_inside || is_in_character) fail(fmt::format("no replacement begins at byte {}", begin));
    const size_t size = std::min(replacements_.find('\0', begin), replacements_.size()) - begin;
    if (size > kMaxTextGrowth * text_size) {
      fail(fmt::format("replaces {} bytes with {} bytes; expected at most {} times as many",
                       text_size, size, kMaxTextGrowth));
    }
  }

  // Searches depth-first without recursion, because a path can be as long as the file.
  void check_nesting() {
    std::vector<uint32_t> path = {offset_of(units_[0])};
    while (!path.empty()) {
      const uint32_t base = path.back();
      BaseState& state = states_[base];
      if (state.is_open) {
        close(base);
        path.pop_back();
      } else if (state.num_nested >= 0) {
        path.pop_back();
      } else {
        state.is_open = true;
        each_next(base, [&](uint32_t, uint32_t next) {
          if (states_[next].is_open) fail("the trie has a cycle");
          if (states_[next].num_nested < 0) path.push_back(next);
        });
      }
    }
  }

  // Computes num_nested of `base` and removes `base` from the current path. All bases to which
  // `base` leads must have been visited.
  void close(uint32_t base) {
    int num_nested = 0;
    each_next(base, [&](uint32_t index, uint32_t next) {
      num_nested =
          std::max(num_nested, states_[next].num_nested + (has_value(units_[index]) ? 1 : 0));
    });
    if (num_nested > kMaxNestedTexts) {
      fail(fmt::format("the trie has more than {} texts on one path", kMaxNestedTexts));
    }
    states_[base].num_nested = num_nested;
    states_[base].is_open = false;
  }

  const std::vector<uint32_t>& units_;
  std::string_view replacements_;
  const std::string& place_;
  std::vector<BaseState> states_;  // indexed by base
};

}  // namespace

CharacterMap::CharacterMap(std::string_view bytes, const std::string& place) {
  const auto fail = [&](std::string_view what) {
    throw TokenizerError(fmt::format("{}: precompiled_charsmap: {}", place, what));
  };
  const size_t size = bytes.size() < kUnitBytes ? 0 : little_endian(bytes);
  if (size == 0 || size % kUnitBytes != 0 || size > bytes.size() - kUnitBytes) {
    fail(fmt::format("the size of the trie is invalid for a map of {} bytes", bytes.size()));
  }
  if (size > kMaxTrieBytes) {
    fail(fmt::format("the trie has {} bytes; at most {} are accepted", size, kMaxTrieBytes));
  }
  for (size_t i = 0; i < size; i += kUnitBytes) {
    units_.push_back(little_endian(bytes.substr(kUnitBytes + i, kUnitBytes)));
  }
  replacements_ = bytes.substr(kUnitBytes + size);
  if (well_formed(replacements_) != replacements_) fail("a replacement is not UTF-8");
  TrieCheck(units_, replacements_, place).run();
}

std::string_view CharacterMap::replacement_at(uint32_t begin) const {
  const std::string_view rest = std::string_view(replacements_).substr(begin);
  return rest.substr(0, rest.find('\0'));
}

// Returns the replacement of the shortest prefix of `text` that is in the trie.
std::optional<std::string_view> CharacterMap::find(std::string_view text) const {
  uint32_t base = offset_of(units_[0]);
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte == 0) break;
    const uint32_t index = base ^ byte;
    const uint32_t unit = units_[index];
    if (label_of(unit) != byte) break;
    base = index ^ offset_of(unit);
    if (has_value(unit)) return replacement_at(value_of(units_[base]));
  }
  return std::nullopt;
}

std::string CharacterMap::apply(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  each_grapheme(text, [&](std::string_view grapheme) {
    if (grapheme.size() <= kMaxGraphemeBytes) {
      if (const auto replacement = find(grapheme)) {
        out += *replacement;
        return;
      }
    }
    for (size_t i = 0; i < grapheme.size();) {
      const std::string_view character = grapheme.substr(i, character_at(grapheme, i).size);
      out += find(character).value_or(character);
      i += character.size();
    }
  });
  return out;
}

}  // namespace vitrine
