#include "tokenizers/hugging_face/oniguruma.h"

#include <fmt/format.h>
#include <unicode/uniset.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "tokenizers/pattern.h"
#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine::hugging_face {
namespace {

constexpr size_t kMostNestedClasses = 100;
constexpr int kMostRepeats = 100'000;  // Oniguruma's limit

struct NamedSet {
  std::string_view name;
  std::string_view items;  // of an ICU set
};
// As measured, character by character: the documentation of Oniguruma differs.
constexpr NamedSet kNamedSets[] = {
    {"alnum", R"(\p{Alphabetic}\p{Nd})"},
    {"alpha", R"(\p{Alphabetic})"},
    {"ascii", R"(\x00-\x7F)"},
    {"blank", R"(\p{Zs}\x09)"},
    {"cntrl", R"(\p{Cc})"},
    {"digit", R"(\p{Nd})"},
    {"graph", R"([^\p{White_Space}\p{Cc}\p{Cn}\p{Cs}])"},
    {"lower", R"(\p{Lowercase})"},
    {"print", R"([^\p{Zl}\p{Zp}\p{Cc}\p{Cn}\p{Cs}])"},
    {"punct", R"(\p{P}\p{S})"},
    {"space", R"(\p{White_Space})"},
    {"upper", R"(\p{Uppercase})"},
    {"word", R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})"},
    {"xdigit", R"(0-9A-Fa-f)"},
};

// Superscripts and fractions of Latin-1 are words' too, but not in a class.
constexpr std::string_view kMoreOfWord = R"(\u00B2\u00B3\u00B9\u00BC-\u00BE)";

struct SetLetter {
  char letter;
  std::string_view name;
};
constexpr SetLetter kSetLetters[] = {
    {'d', "digit"}, {'h', "xdigit"}, {'s', "space"}, {'w', "word"}};

struct CharacterLetter {
  char letter;
  char32_t value;
};
constexpr CharacterLetter kCharacterLetters[] = {{'a', 0x07}, {'e', 0x1B}, {'f', 0x0C}, {'n', 0x0A},
                                                 {'r', 0x0D}, {'t', 0x09}, {'v', 0x0B}};

// Not ICU's (?s:.), which takes both characters of a CR LF.
constexpr std::string_view kAny = R"([\x{0}-\x{10FFFF}])";
constexpr std::string_view kNone = R"([^\x{0}-\x{10FFFF}])";
constexpr std::string_view kNotNewline = R"([^\x0A])";
constexpr std::string_view kLineBegin = R"((?:\A|(?<=\x0A)(?!\z)))";
constexpr std::string_view kLineEnd = R"((?=\x0A|\z))";

struct Meaning {
  std::string_view icu;
  char letter;
  bool repeats;
};
// Outside of classes.
constexpr Meaning kMeanings[] = {
    {R"(\A)", 'A', false}, {kNotNewline, 'N', true}, {kAny, 'O', true},
    {R"(\R)", 'R', true},  {R"(\X)", 'X', true},     {R"((?=\x0A?\z))", 'Z', false},
    {R"(\z)", 'z', false},
};
constexpr std::string_view kRefused = "CGKMYcgky";

struct GroupKind {
  std::string_view text;
  bool repeats;
  bool looks_behind = false;
};
constexpr GroupKind kGroupKinds[] = {{"(?:", true},  {"(?>", true},         {"(?=", false},
                                     {"(?!", false}, {"(?<=", false, true}, {"(?<!", false, true}};

template <class Row, size_t kSize>
const Row* row_of(const Row (&table)[kSize], char32_t letter) {
  const Row* found = std::ranges::find_if(
      table, [&](const Row& row) { return static_cast<char32_t>(row.letter) == letter; });
  return found == std::end(table) ? nullptr : found;
}

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_layout(char32_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool is_letter(char32_t c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

std::string quoted(char32_t c) {
  if (c < 0x80 && !is_digit(c) && !is_letter(c)) {
    return fmt::format("\\x{:02X}", static_cast<uint32_t>(c));
  }
  std::string text;
  append_character(text, c);
  return text;
}

std::string bracketed(std::string_view items, bool negated) {
  return fmt::format("[{}{}]", negated ? "^" : "", items);
}

std::optional<std::string> named_set(std::string_view name, bool negated, bool in_class) {
  const NamedSet* found = std::ranges::find(kNamedSets, name, &NamedSet::name);
  if (found == std::end(kNamedSets)) return std::nullopt;
  std::string items(found->items);
  if (name == "word" && !in_class) items += kMoreOfWord;
  return bracketed(items, negated);
}

// nullopt if ICU does not know the property.
std::optional<std::string> known_set(std::string_view kind, std::string_view name, bool negated) {
  const std::string items = fmt::format("\\p{{{}{}}}", kind, name);
  UErrorCode status = U_ZERO_ERROR;
  const icu::UnicodeSet set(icu::UnicodeString::fromUTF8(items), status);
  if (U_FAILURE(status)) return std::nullopt;
  return bracketed(items, negated);
}

// ICU's own \b and \B take no notice of marks and formats.
std::string word_edge(bool negated) {
  return fmt::format("(?:(?<={0})(?{1}{0})|(?<!{0})(?{2}{0}))", *named_set("word", false, false),
                     negated ? '=' : '!', negated ? '!' : '=');
}

class Rewriter {
 public:
  Rewriter(std::string_view from, const std::string& place) : from_(from), place_(place) {}

  std::string run() {
    groups_.emplace_back();
    while (!at_end()) {
      if (std::max(from_.size(), out_.size()) > Pattern::kMostBytes) {
        throw TokenizerError(fmt::format("{}: the pattern is too long", place_));
      }
      token_ = at_;
      read_token();
    }
    if (groups_.size() > 1) refuse("a ( without its )");
    out_.append(groups_.back().closings, ')');
    if (has_named_groups_ && has_back_references_) refuse("a back reference beside named groups");
    return std::move(out_);
  }

 private:
  struct Options {
    bool ignore_case = false;
    bool dot_takes_newline = false;
    bool extended = false;
  };
  struct Group {
    size_t begin = 0;           // in out_
    Options outer = {};         // in force again after it
    bool repeats = false;       // can be repeated
    size_t closings = 0;        // parentheses that its end closes
    bool looks_behind = false;  // is in a look-behind
  };
  // Of a class: a character, or a set.
  struct Item {
    std::string icu;
    std::optional<char32_t> character;
  };

  bool at_end() const { return at_ == from_.size(); }
  bool sees(std::string_view text) const { return from_.substr(at_).starts_with(text); }
  bool take(std::string_view text) {
    if (!sees(text)) return false;
    at_ += text.size();
    return true;
  }
  char32_t take_character() {
    if (at_end()) refuse("it ends too early");
    const Character character = character_at(from_, at_);
    at_ += character.size;
    return character.value;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    throw TokenizerError(
        fmt::format("{}: the pattern is not supported: {}, before its byte {}", place_, what, at_));
  }
  [[noreturn]] void refuse_token() const {
    refuse(fmt::format("\"{}\"", from_.substr(token_, at_ - token_)));
  }

  void add_atom(std::string_view icu) {
    atom_ = out_.size();
    repeated_ = false;
    out_ += icu;
  }
  void add_anchor(std::string_view icu) {
    atom_.reset();
    out_ += icu;
  }
  // Oniguruma ignores case in no set that is not in a class.
  std::string with_case(std::string_view icu) const {
    return options_.ignore_case ? fmt::format("(?-i:{})", icu) : std::string(icu);
  }

  void read_token() {
    const char32_t c = take_character();
    switch (c) {
      case '\\':
        return read_escape();
      case '[':
        return add_atom(read_class(0));
      case '(':
        return open_group();
      case ')':
        return close_group();
      case '|':
        return add_anchor("|");
      case '.':
        return add_atom(options_.dot_takes_newline ? kAny : kNotNewline);
      case '^':
        return add_anchor(kLineBegin);
      case '$':
        return add_anchor(kLineEnd);
      case '*':
      case '+':
      case '?':
        if (c != '?') refuse_if_looking_behind();
        if (take("+")) return repeat_possessively(from_.substr(token_, 1));
        take("?");
        return repeat(from_.substr(token_, at_ - token_));
      case '{':
        return read_interval();
      default:
        break;
    }
    if (options_.extended && is_layout(c)) return;
    if (options_.extended && c == '#') return skip_line();
    add_atom(quoted(c));
  }

  void repeat(std::string_view icu) {
    if (!atom_) refuse(fmt::format("\"{}\" with nothing to repeat", icu));
    if (repeated_) {
      out_.insert(*atom_, "(?:");
      out_ += ')';
    }
    out_ += icu;
    repeated_ = true;
  }

  // ICU's own (?:a?)*+ does not end where nothing is left to match.
  void repeat_possessively(std::string_view icu) {
    repeat(icu);
    out_.insert(*atom_, "(?>");
    out_ += ')';
    repeated_ = false;
  }

  void refuse_if_looking_behind() const {
    if (groups_.back().looks_behind) refuse("a look-behind without a longest match");
  }

  std::optional<int> take_number() {
    const size_t begin = at_;
    while (!at_end() && is_digit(static_cast<unsigned char>(from_[at_]))) ++at_;
    if (at_ == begin) return std::nullopt;
    int value = 0;
    const auto result = std::from_chars(from_.data() + begin, from_.data() + at_, value);
    return result.ec == std::errc() ? std::min(value, kMostRepeats + 1) : kMostRepeats + 1;
  }

  // {2}, {2,}, {,3}, {2,3}. Anything else is a brace.
  void read_interval() {
    const size_t begin = at_;
    const std::optional<int> least = take_number();
    const bool is_fixed = !take(",");
    const std::optional<int> most = is_fixed ? least : take_number();
    if ((!least && !most) || !take("}")) {
      at_ = begin;
      return add_atom(quoted('{'));
    }
    // {3,2} is a possessive {2,3}.
    if (std::max(least.value_or(0), most.value_or(0)) > kMostRepeats || (most && least > most)) {
      refuse_token();
    }
    if (!most) refuse_if_looking_behind();
    std::string icu = fmt::format("{{{}", least.value_or(0));
    if (!is_fixed) icu += most ? fmt::format(",{}", *most) : ",";
    icu += '}';
    // {2}? and {2,3}+ are repeats of repeats.
    if (!is_fixed && take("?")) icu += '?';
    repeat(icu);
  }

  void open_group() {
    Group group = {.begin = out_.size(),
                   .outer = options_,
                   .repeats = true,
                   .closings = 1,
                   .looks_behind = groups_.back().looks_behind};
    at_ = token_;
    if (take("(?#")) return skip_comment();
    const auto* kind =
        std::ranges::find_if(kGroupKinds, [&](const GroupKind& row) { return take(row.text); });
    if (kind != std::end(kGroupKinds)) {
      group.repeats = kind->repeats;
      group.looks_behind |= kind->looks_behind;
      out_ += kind->text;
    } else if (take("(?<") || take("(?'")) {
      const char end = from_[at_ - 1] == '<' ? '>' : '\'';
      while (take_character() != static_cast<char32_t>(end)) {
      }
      has_named_groups_ = true;
      out_ += "(?:";
    } else if (take("(?")) {
      if (!read_options()) {
        ++groups_.back().closings;
        return add_anchor(case_group());
      }
      out_ += case_group();
    } else {
      take("(");
      if (take("*")) refuse_token();
      out_ += '(';
    }
    groups_.push_back(group);
    atom_.reset();
  }

  std::string_view case_group() const { return options_.ignore_case ? "(?i:" : "(?-i:"; }

  // (?im-x: or (?im-x), which holds until the group around it ends, for other alternatives too.
  // Whether it begins a group.
  bool read_options() {
    bool on = true;
    while (true) {
      switch (take_character()) {
        case '-':
          on = false;
          break;
        case 'i':
          options_.ignore_case = on;
          break;
        case 'm':
          options_.dot_takes_newline = on;
          break;
        case 'x':
          options_.extended = on;
          break;
        case ':':
          return true;
        case ')':
          return false;
        default:
          refuse_token();
      }
    }
  }

  void skip_line() { at_ = std::min(from_.find('\n', at_), from_.size()); }

  void skip_comment() {
    for (char32_t c = take_character(); c != ')'; c = take_character()) {
      if (c == '\\') take_character();
    }
  }

  void close_group() {
    if (groups_.size() == 1) refuse("a ) without its (");
    const Group group = groups_.back();
    groups_.pop_back();
    out_.append(group.closings, ')');
    options_ = group.outer;
    atom_ = group.repeats ? std::optional(group.begin) : std::nullopt;
    repeated_ = false;
  }

  void read_escape() {
    const char32_t c = take_character();
    if (c < 0x80 && kRefused.find(static_cast<char>(c)) != std::string_view::npos) refuse_token();
    if (c == 'X') refuse_if_looking_behind();
    if (const Meaning* meaning = row_of(kMeanings, c)) {
      return meaning->repeats ? add_atom(meaning->icu) : add_anchor(meaning->icu);
    }
    if (c == 'b' || c == 'B') return add_anchor(with_case(word_edge(c == 'B')));
    if (c >= '1' && c <= '9') {
      if (take_number()) refuse_token();  // an octal number or a group's, by the count of groups
      has_back_references_ = true;
      return add_atom(fmt::format("(?:\\{})", static_cast<char>(c)));
    }
    const Item item = read_escaped(c, false);
    add_atom(item.character ? item.icu : with_case(item.icu));
  }

  // What a backslash and `c` are, in classes and outside.
  Item read_escaped(char32_t c, bool in_class) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (const SetLetter* row = row_of(kSetLetters, is_upper ? c - 'A' + 'a' : c)) {
      return {*named_set(row->name, is_upper, in_class), std::nullopt};
    }
    if ((c == 'p' || c == 'P') && take("{"))
      return {read_property(c == 'P', in_class), std::nullopt};
    const char32_t value = read_escaped_character(c);
    return {quoted(value), value};
  }

  char32_t read_escaped_character(char32_t c) {
    if (const CharacterLetter* row = row_of(kCharacterLetters, c)) return row->value;
    if (c == 'o' && take("{")) refuse_token();
    char32_t value = 0;
    const auto take_digits = [&](int base, size_t most) {
      const char* const begin = from_.data() + at_;
      const char* const end = begin + std::min(most, from_.size() - at_);
      uint32_t number = 0;
      const char* const stop = std::from_chars(begin, end, number, base).ptr;
      value = number;
      at_ += static_cast<size_t>(stop - begin);
      return stop != begin;
    };
    const bool is_braced = c == 'x' && take("{");
    if (is_braced || c == 'u') {
      const size_t begin = at_;
      const bool is_number = take_digits(16, is_braced ? 8 : 4);
      const bool is_whole = is_braced ? take("}") : at_ == begin + 4;
      const bool is_surrogate = value >= 0xD800 && value < 0xE000;
      if (!is_number || !is_whole || value > 0x10FFFF || is_surrogate) refuse_token();
      return value;
    }
    if (c == 'x' || (c >= '0' && c <= '7')) {
      if (c != 'x') --at_;
      if (!take_digits(c == 'x' ? 16 : 8, c == 'x' ? 2 : 3) || value >= 0x80) {
        refuse_token();  // a byte of a character
      }
      return value;
    }
    return c;
  }

  std::string read_property(bool negated, bool in_class) {
    if (take("^")) negated = !negated;
    std::string name;  // without what Oniguruma does not look at
    for (char32_t c = take_character(); c != '}'; c = take_character()) {
      if (c == ' ' || c == '-' || c == '_') continue;
      if (!is_letter(c) && !is_digit(c)) refuse_token();
      name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    if (negated && in_class) refuse_if_ignoring_case();
    if (name == "punct") name = "p";
    if (auto set = named_set(name, negated, in_class)) return *set;
    if (auto set = known_set("", name, negated)) return *set;
    if (name.starts_with("in")) {
      if (auto set = known_set("block=", name.substr(2), negated)) return *set;
    }
    refuse_token();
  }

  // After its bracket.
  std::string read_class(size_t depth) {
    if (depth == kMostNestedClasses) refuse("a class nested this deep");
    const bool negated = take("^");
    if (negated && depth > 0) refuse_if_ignoring_case();
    std::string operands;  // before the last &&
    std::string items;
    const auto operand = [&] { return bracketed(items.empty() ? kNone : items, false); };
    for (bool is_first = true;; is_first = false) {
      if (sees("]") && !(is_first && has_another_bracket())) {
        if (is_first) refuse("an empty class");
        ++at_;
        break;
      }
      if (take("&&")) {
        refuse_if_ignoring_case();
        operands += operand() + "&&";
        items.clear();
        continue;
      }
      const Item item = read_item(depth);
      const bool is_range = item.character && sees("-") && !sees("-]") && !sees("-&&");
      if (!is_range) {
        items += item.icu;
        continue;
      }
      take("-");
      const Item last = read_item(depth);
      if (!last.character || *last.character < *item.character) refuse_token();
      items += item.icu + '-' + last.icu;
    }
    return bracketed(operands.empty() ? items : operands + operand(), negated);
  }

  // ICU adds the other cases before it negates and intersects, Oniguruma after.
  void refuse_if_ignoring_case() const {
    if (options_.ignore_case) refuse("a class with && or a negated set where case is ignored");
  }

  // The first ] of a class is a character if the class can end at another one.
  bool has_another_bracket() const {
    for (size_t i = at_ + 1; i < from_.size(); ++i) {
      if (from_[i] == ']') return true;
      if (from_[i] == '\\') ++i;
    }
    return false;
  }

  Item read_item(size_t depth) {
    const char32_t c = take_character();
    if (c == '[') {
      const std::optional<std::string> named = read_named_class();
      return {named ? *named : read_class(depth + 1), std::nullopt};
    }
    if (c != '\\') return {quoted(c), c};
    const char32_t escaped = take_character();
    if (escaped == 'b') return {quoted(0x08), 0x08};
    if (escaped == 'c' || escaped == 'C' || escaped == 'M') refuse_token();
    return read_escaped(escaped, true);
  }

  // [:alpha:], [:^alpha:]
  std::optional<std::string> read_named_class() {
    const size_t begin = at_;
    if (!take(":")) return std::nullopt;
    const bool negated = take("^");
    const size_t name = at_;
    while (!at_end() && is_letter(static_cast<unsigned char>(from_[at_]))) ++at_;
    const std::string_view found = from_.substr(name, at_ - name);
    if (!take(":]")) {
      at_ = begin;
      return std::nullopt;
    }
    std::optional<std::string> set = named_set(found, negated, true);
    if (!set) refuse_token();
    if (negated) refuse_if_ignoring_case();
    return set;
  }

  std::string_view from_;
  const std::string& place_;
  size_t at_ = 0;     // in from_
  size_t token_ = 0;  // where the token begins
  std::string out_;
  std::optional<size_t> atom_;  // in out_: what a repeat would repeat
  bool repeated_ = false;       // it ends with a repeat
  Options options_;
  std::vector<Group> groups_;
  bool has_named_groups_ = false;
  bool has_back_references_ = false;
};

}  // namespace

std::string icu_expression(std::string_view oniguruma, const std::string& place) {
  return Rewriter(oniguruma, place).run();
}

}  // namespace vitrine::hugging_face
