#include "tokenizers/pattern_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

namespace vitrine {
namespace {

constexpr size_t kMaxPatternBytes = 64 << 10;
constexpr size_t kMaxGroupDepth = 200;  // Oniguruma recurses
constexpr size_t kMaxGroups = 1000;
constexpr size_t kMaxQuantifiers = 8;  // quantifiers of one item: "a{2}{3}+" has three
constexpr size_t kMaxScans = 2;        // limit on look-arounds that scan the text
constexpr uint64_t kMaxRepeats =
    100'000;  // limit on the sum of counts; Oniguruma's limit on one count
constexpr uint64_t kMaxRepeatsInLoop = 100;
constexpr uint64_t kMaxRepeatsInLook = 100;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// Bounds on the work of matching an item, such as a character or a group.
struct ItemWork {
  uint64_t repeats = 0;       // sum of the counts, each multiplied by the counts around it
  bool is_unbounded = false;  // has a repeat without an upper bound, or a back reference
  bool scans = false;         // has a look-around whose work grows with the text

  void add(const ItemWork& other) {
    repeats += other.repeats;
    is_unbounded |= other.is_unbounded;
    scans |= other.scans;
  }
};

struct OpenGroup {
  ItemWork work;
  bool is_look;
  bool outer_extended;
};

// Reads an expression once, from left to right.
class WorkScanner {
 public:
  explicit WorkScanner(std::string_view pattern) : pattern_(pattern), rest_(pattern) {}

  PatternFindings run() {
    if (rest_.size() > kMaxPatternBytes) {
      refuse(
          fmt::format("it has {} bytes; at most {} are accepted", rest_.size(), kMaxPatternBytes));
    }
    groups_.push_back({{}, false, false});
    while (!rest_.empty() && !has_refused()) read_item();
    finish_item();
    findings_.work_per_byte = (1 + num_scans_) * std::max<uint64_t>(repeats_in_loop_, 1);
    findings_.repeats = groups_.front().work.repeats;
    return std::move(findings_);
  }

 private:
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  char take_byte() {
    if (rest_.empty()) return 0;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  void skip_through(char end) {
    rest_.remove_prefix(std::min(rest_.find(end), rest_.size() - 1) + 1);
  }
  bool has_refused() const { return findings_.refusal.has_value(); }
  void refuse(std::string what) {
    if (!has_refused()) findings_.refusal = std::move(what);
  }

  void finish_item() {
    if (item_) groups_.back().work.add(*item_);
    item_.reset();
    check_repeats(groups_.back().work);
  }
  void begin_item(const ItemWork& work = {}) {
    finish_item();
    item_ = work;
    num_quantifiers_ = 0;
  }

  void read_item() {
    const char c = take_byte();
    switch (c) {
      case '\\':
        return begin_item(read_escape());
      case '[':
        skip_class();
        return begin_item();
      case '(':
        return open_group();
      case ')':
        return close_group();
      case '|':
        return finish_item();
      case '*':
      case '+':
        return quantify(1, true);
      case '?':
        return quantify(1, false);
      case '{':
        return read_interval();
      default:
        break;
    }
    if (is_extended_ && (c == ' ' || (c >= '\t' && c <= '\r'))) return;
    if (is_extended_ && c == '#') {
      if (!rest_.empty()) skip_through('\n');
      return;
    }
    begin_item();
  }

  void quantify(uint64_t count, bool is_unbounded) {
    if (!item_) return;
    if (++num_quantifiers_ > kMaxQuantifiers) refuse("too many quantifiers for one item");
    if (item_->scans && (is_unbounded || count > 1)) {
      refuse("a repeat of \\X or of a look-around that scans the text");
    }
    if (is_unbounded) repeats_in_loop_ = std::max(repeats_in_loop_, item_->repeats);
    if (count > 1) item_->repeats = std::max<uint64_t>(item_->repeats, 1) * count;
    item_->is_unbounded |= is_unbounded;
    if (repeats_in_loop_ > kMaxRepeatsInLoop) {
      refuse(fmt::format("more than {} counted repetitions of an item within a loop",
                         kMaxRepeatsInLoop));
    }
    check_repeats(*item_);
  }

  void check_repeats(const ItemWork& work) {
    if (work.repeats <= kMaxRepeats) return;
    refuse(fmt::format("more than {} counted repetitions of items in total", kMaxRepeats));
  }

  // Reads a count: {2}, {2,}, {,3} or {2,3}. All other braces are literal.
  void read_interval() {
    const std::string_view text = rest_.substr(0, rest_.find('}'));
    const size_t comma = std::min(text.find(','), text.size());
    const auto number = [](std::string_view digits) -> std::optional<uint64_t> {
      uint64_t value = 0;
      const char* const end = digits.data() + digits.size();
      const auto [stop, error] = std::from_chars(digits.data(), end, value);
      if (stop != end || digits.empty()) return std::nullopt;
      return error == std::errc() ? value : kMaxRepeats + 1;
    };
    const std::string_view first = text.substr(0, comma);
    const std::string_view last = text.substr(std::min(comma + 1, text.size()));
    const std::optional<uint64_t> min = number(first);
    const std::optional<uint64_t> max = number(last);
    const bool is_interval = text.size() < rest_.size() && (min || first.empty()) &&
                             (max || last.empty()) && (min || max);
    if (!is_interval) return begin_item();
    rest_.remove_prefix(text.size() + 1);
    quantify(std::max(min.value_or(0), max.value_or(0)), comma < text.size() && last.empty());
  }

  ItemWork read_escape() {
    const char c = take_byte();
    // Refuses \C, \M and \c, because this check does not know the full syntax. Refuses \y and \Y,
    // which may scan the text. The search does not support \G, \K and \g.
    if (std::string_view("GKYgyCMc").find(c) != std::string_view::npos) {
      refuse(fmt::format("\"\\{}\"", c));
    }
    if (std::string_view("Ppoux").find(c) != std::string_view::npos && take("{")) {
      if (!rest_.empty()) skip_through('}');
    }
    if (c == 'k' && !rest_.empty()) skip_through(take_byte() == '<' ? '>' : '\'');
    // \X matches one grapheme. Its end may depend on all preceding characters.
    if (c == 'X') return {.is_unbounded = true, .scans = true};
    return {.is_unbounded = c == 'k' || (c >= '1' && c <= '9')};
  }

  // Skips the rest of a character class after its opening bracket.
  void skip_class() {
    for (size_t depth = 1; depth > 0 && !rest_.empty() && !has_refused();) {
      // A closing bracket at the beginning of a class is a member of the class.
      if (is_class_begin_) {
        is_class_begin_ = false;
        take("^");
        if (take("]")) continue;
      }
      const char c = take_byte();
      if (c == '\\') read_escape();
      if (c == ']') --depth;
      if (c == '[' && !skip_posix_bracket()) {
        if (++depth > kMaxGroupDepth) refuse("classes that are nested too deep");
        is_class_begin_ = true;
      }
    }
    is_class_begin_ = true;
  }

  // Skips the rest of a bracket such as [:alpha:] or [:^alpha:] after its "[". Returns false if the
  // text is not such a bracket.
  bool skip_posix_bracket() {
    if (!rest_.starts_with(':')) return false;
    size_t end = rest_.starts_with(":^") ? 2 : 1;
    while (end < rest_.size() && is_letter(rest_[end])) ++end;
    if (!rest_.substr(end).starts_with(":]")) {
      // The meaning of a later ":]" in Oniguruma depends on its distance from "[:".
      if (rest_.find(":]") != std::string_view::npos) refuse("\"[:\"");
      return false;
    }
    if (rest_.starts_with(":punct:") || rest_.starts_with(":^punct:")) {
      findings_.punctuation.push_back(pattern_.size() - rest_.size() - 1);
    }
    rest_.remove_prefix(end + 2);
    return true;
  }

  void open_group() {
    if (take("?#")) {
      for (char c = take_byte(); c != ')' && !rest_.empty(); c = take_byte()) {
        if (c == '\\') take_byte();
      }
      return;
    }
    finish_item();
    OpenGroup group = {{}, false, is_extended_};
    if (take("?=") || take("?!") || take("?<=") || take("?<!")) {
      group.is_look = true;
    } else if (take("?<")) {
      if (!rest_.empty()) skip_through('>');
    } else if (take("?'")) {
      if (!rest_.empty()) skip_through('\'');
    } else if (take("?") && !read_options()) {
      return;
    }
    if (groups_.size() > kMaxGroupDepth) refuse("groups that are nested too deep");
    if (++num_groups_ > kMaxGroups) refuse(fmt::format("more than {} groups", kMaxGroups));
    groups_.push_back(group);
  }

  // Reads the characters after "(?" in a group without a name: ">", ":", or options. Returns false
  // if no group begins, as in "(?i)".
  bool read_options() {
    bool is_on = true;
    while (!rest_.empty()) {
      if (!is_letter(rest_.front()) && rest_.front() != '-') break;
      const char c = take_byte();
      if (c == '-') is_on = false;
      if (c == 'x') is_extended_ = is_on;
      if (c == 'y' && take("{") && !rest_.empty()) skip_through('}');
    }
    if (take(")")) return false;
    if (!take(":")) take(">");
    return true;
  }

  void close_group() {
    finish_item();
    if (groups_.size() == 1) return;
    const OpenGroup group = groups_.back();
    groups_.pop_back();
    is_extended_ = group.outer_extended;
    ItemWork work = group.work;
    if (group.is_look) {
      work.scans |= work.is_unbounded || work.repeats > kMaxRepeatsInLook;
      if (work.scans && ++num_scans_ > kMaxScans) {
        refuse(fmt::format("more than {} look-arounds that scan the text", kMaxScans));
      }
    }
    begin_item(work);
  }

  std::string_view pattern_;
  std::string_view rest_;
  std::vector<OpenGroup> groups_;
  std::optional<ItemWork> item_;  // the last item, which a quantifier may follow
  size_t num_quantifiers_ = 0;    // number of the last item's quantifiers
  size_t num_groups_ = 0;
  size_t num_scans_ = 0;
  uint64_t repeats_in_loop_ = 0;  // largest sum in a repeat without an upper bound
  bool is_extended_ = false;      // flag x: white space and comments are ignored
  bool is_class_begin_ = true;
  PatternFindings findings_;
};

}  // namespace

PatternFindings check_pattern(std::string_view expression) { return WorkScanner(expression).run(); }

}  // namespace vitrine
