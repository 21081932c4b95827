#include "tokenizers/hugging_face/oniguruma.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "tokenizers/hugging_face/oniguruma_sets.h"
#include "tokenizers/hugging_face/pattern_reader.h"
#include "tokenizers/pattern.h"

namespace vitrine::hugging_face {
namespace {

constexpr size_t kMostNestedClasses = 100;
constexpr int kMostRepeats = 100'000;  // Oniguruma's limit

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

const Meaning* meaning_of(char32_t letter) {
  const Meaning* found = std::ranges::find_if(
      kMeanings, [&](const Meaning& row) { return static_cast<char32_t>(row.letter) == letter; });
  return found == std::end(kMeanings) ? nullptr : found;
}

bool is_layout(char32_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

class Rewriter : PatternReader {
 public:
  using PatternReader::PatternReader;

  std::string run() {
    groups_.emplace_back();
    while (!at_end()) {
      if (std::max(size(), out_.size()) > Pattern::kMostBytes) {
        refuse("it is too long");
      }
      begin_token();
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
        if (take("+")) return repeat_possessively(token().substr(0, 1));
        take("?");
        return repeat(token());
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

  // {2}, {2,}, {,3}, {2,3}. Anything else is a brace.
  void read_interval() {
    const size_t begin = at();
    const std::optional<int> least = take_number();
    const bool is_fixed = !take(",");
    const std::optional<int> most = is_fixed ? least : take_number();
    if ((!least && !most) || !take("}")) {
      go_to(begin);
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
    back_to_token();
    if (take("(?#")) return skip_comment();
    const auto* kind =
        std::ranges::find_if(kGroupKinds, [&](const GroupKind& row) { return take(row.text); });
    if (kind != std::end(kGroupKinds)) {
      group.repeats = kind->repeats;
      group.looks_behind |= kind->looks_behind;
      out_ += kind->text;
    } else if (take("(?<") || take("(?'")) {
      const char32_t end = token().ends_with('<') ? '>' : '\'';
      while (take_character() != end) {
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

  void skip_line() {
    take_while([](char32_t c) { return c != '\n'; });
  }

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
    if (const Meaning* meaning = meaning_of(c)) {
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
    if (auto set = set_of_letter(c, in_class)) return {*std::move(set), std::nullopt};
    if ((c == 'p' || c == 'P') && take("{"))
      return {read_property(c == 'P', in_class), std::nullopt};
    const char32_t value = read_escaped_character(c);
    return {quoted(value), value};
  }

  char32_t read_escaped_character(char32_t c) {
    if (const auto character = character_of_letter(c)) return *character;
    if (c == 'o' && take("{")) refuse_token();
    const bool is_braced = c == 'x' && take("{");
    if (is_braced || c == 'u') {
      const size_t begin = at();
      const auto value = take_digits(16, is_braced ? 8 : 4);
      const bool is_whole = is_braced ? take("}") : at() == begin + 4;
      const bool is_surrogate = value >= 0xD800 && value < 0xE000;
      if (!value || !is_whole || *value > 0x10FFFF || is_surrogate) refuse_token();
      return *value;
    }
    if (c == 'x' || (c >= '0' && c <= '7')) {
      if (c != 'x') go_to(at() - 1);
      const auto value = take_digits(c == 'x' ? 16 : 8, c == 'x' ? 2 : 3);
      if (!value || *value >= 0x80) refuse_token();  // a byte of a character
      return *value;
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
        take("]");
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
    const std::string_view after = rest().substr(1);
    for (size_t i = 0; i < after.size(); ++i) {
      if (after[i] == ']') return true;
      if (after[i] == '\\') ++i;
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
    const size_t begin = at();
    if (!take(":")) return std::nullopt;
    const bool negated = take("^");
    const std::string_view found = take_while(is_letter);
    if (!take(":]")) {
      go_to(begin);
      return std::nullopt;
    }
    std::optional<std::string> set = named_set(found, negated, true);
    if (!set) refuse_token();
    if (negated) refuse_if_ignoring_case();
    return set;
  }

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
