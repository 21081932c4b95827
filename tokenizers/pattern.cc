#include "tokenizers/pattern.h"

#include <fmt/format.h>
#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

#include "tokenizers/pattern_check.h"
#include "tokenizers/unicode.h"
#include "vitrine/tokenizer.h"

namespace vitrine {
namespace {

// Bounds on the number of Oniguruma's retries before the first look at the clock.
constexpr uint64_t kMinRetries = 8;
constexpr uint64_t kMaxRetries = 1024;
// Maximum work in bytes before the first look at the clock: about 0.4 s.
constexpr uint64_t kMaxUncheckedWork = 1 << 27;
// Limits on Oniguruma's stack. An entry has 32 bytes.
constexpr size_t kMinStackEntries = 16 << 10;
constexpr size_t kStackEntriesPerByte = 8;
constexpr size_t kMaxStackEntries = 1'500'000;
constexpr uint64_t kStepsPerSearch = 20;

const OnigUChar* begin_of(std::string_view text) {
  return reinterpret_cast<const OnigUChar*>(text.data());
}
const OnigUChar* end_of(std::string_view text) { return begin_of(text) + text.size(); }

bool exceeded_retries(int result) {
  return result == ONIGERR_RETRY_LIMIT_IN_MATCH_OVER ||
         result == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER;
}

// Returns Oniguruma's default syntax without callbacks, calls to groups, and constructs that change
// how a search advances. Calls to groups can take exponential time without a retry.
OnigSyntaxType hugging_face_syntax() {
  OnigSyntaxType syntax = OnigSyntaxOniguruma;
  syntax.op2 &= ~static_cast<unsigned>(
      ONIG_SYN_OP2_QMARK_BRACE_CALLOUT_CONTENTS | ONIG_SYN_OP2_ASTERISK_CALLOUT_NAME |
      ONIG_SYN_OP2_QMARK_TILDE_ABSENT_GROUP | ONIG_SYN_OP2_ESC_G_SUBEXP_CALL);
  syntax.behavior &= ~static_cast<unsigned>(ONIG_SYN_WHOLE_OPTIONS);
  return syntax;
}

OnigSyntaxType tiktoken_syntax() {
  OnigSyntaxType syntax = OnigSyntaxJava;
  syntax.op |= ONIG_SYN_OP_ESC_X_BRACE_HEX8;
  syntax.op2 |= ONIG_SYN_OP2_QMARK_LT_NAMED_GROUP | ONIG_SYN_OP2_ESC_P_BRACE_CIRCUMFLEX_NOT;
  syntax.op2 &= ~static_cast<unsigned>(ONIG_SYN_OP2_ESC_CAPITAL_Q_QUOTE);
  return syntax;
}

// Replaces [:punct:] with Unicode properties. Oniguruma's [:punct:] lacks some symbols before
// version 6.9.9.
std::string with_symbols(std::string expression, const std::vector<size_t>& punctuation) {
  for (size_t i = punctuation.size(); i-- > 0;) {
    const bool is_negated = expression[punctuation[i] + 2] == '^';
    expression.replace(punctuation[i], is_negated ? 10 : 9,
                       is_negated ? R"([^\p{P}\p{S}])" : R"([\p{P}\p{S}])");
  }
  return expression;
}

// Returns null and writes the reason to `error` if the expression is malformed.
regex_t* compile(std::string_view expression, PatternSyntax syntax, std::string& error) {
  static std::mutex mutex;  // Oniguruma fills tables in its first compilation
  const std::lock_guard lock(mutex);
  OnigEncoding utf8 = ONIG_ENCODING_UTF8;
  onig_initialize(&utf8, 1);
  static OnigSyntaxType syntaxes[] = {hugging_face_syntax(), tiktoken_syntax()};
  regex_t* regex = nullptr;
  OnigErrorInfo info{};
  const int result = onig_new(&regex, begin_of(expression), end_of(expression), ONIG_OPTION_NONE,
                              utf8, &syntaxes[static_cast<size_t>(syntax)], &info);
  if (result == ONIG_NORMAL) return regex;
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> message{};
  const int size = onig_error_code_to_str(message.data(), result, &info);
  error.assign(reinterpret_cast<const char*>(message.data()), static_cast<size_t>(size));
  return nullptr;
}

}  // namespace

struct Pattern::Compiled {
  struct FreeRegex {
    void operator()(regex_t* pattern) const { onig_free(pattern); }
  };
  std::unique_ptr<regex_t, FreeRegex> regex;
  PatternFindings findings;
  std::string place;

  // Returns the number of retries before the first look at the clock.
  unsigned long unchecked_retries(size_t text_bytes) const {
    const uint64_t work = findings.work_per_byte * (text_bytes + 1) + findings.repeats;
    return static_cast<unsigned long>(
        std::clamp(kMaxUncheckedWork / work, kMinRetries, kMaxRetries));
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw TokenizerError(fmt::format("{}: {}", place, what));
  }
};

namespace {

class PatternSearch {
 public:
  PatternSearch(regex_t* regex, unsigned long unchecked_retries, std::string_view text,
                TextBudget& budget)
      : regex_(regex), unchecked_retries_(unchecked_retries), text_(text), budget_(budget) {
    const size_t entries = kMinStackEntries + kStackEntriesPerByte * text.size();
    onig_set_match_stack_limit_size_of_match_param(
        limits_.get(), static_cast<unsigned>(std::min(entries, kMaxStackEntries)));
  }

  // Finds the first match at or after `start`, or returns false. Sets `error` to a value other than
  // 0 if Oniguruma gives up.
  bool find(size_t start, int& error) {
    for (;;) {
      budget_.take_steps(kStepsPerSearch);
      int result = budget_.timed([&] { return search(start); });
      if (result >= 0) return true;
      if (!exceeded_retries(result)) return fails(result, error);
      // The search used up its retries. Tries some start positions one by one and charges each
      // position to the budget. Then continues the search.
      for (unsigned long tried = 0; tried < unchecked_retries_; ++tried) {
        result = match(start);
        if (result >= 0) return true;
        if (result != ONIG_MISMATCH) return fails(result, error);
        if (start == text_.size()) return false;
        start += character_at(text_, start).size;
      }
    }
  }

  size_t begin() const { return static_cast<size_t>(region_->beg[0]); }
  size_t end() const { return static_cast<size_t>(region_->end[0]); }

 private:
  struct FreeRegion {
    void operator()(OnigRegion* region) const { onig_region_free(region, 1); }
  };
  struct FreeLimits {
    void operator()(OnigMatchParam* limits) const { onig_free_match_param(limits); }
  };

  static bool fails(int result, int& error) {
    if (result != ONIG_MISMATCH) error = result;
    return false;
  }

  void set_retries(unsigned long retries) {
    onig_set_retry_limit_in_match_of_match_param(limits_.get(), retries);
    onig_set_retry_limit_in_search_of_match_param(limits_.get(), retries);
  }

  int search(size_t start) {
    set_retries(unchecked_retries_);
    return onig_search_with_param(regex_, begin_of(text_), end_of(text_), begin_of(text_) + start,
                                  end_of(text_), region_.get(), ONIG_OPTION_NONE, limits_.get());
  }

  // Matches at `start` only. Oniguruma does not report its number of retries, so this function
  // limits the retries and repeats the match with a higher limit. The limit grows in small steps,
  // because later retries may take much longer.
  int match(size_t start) {
    for (unsigned long retries = unchecked_retries_;; retries += unchecked_retries_) {
      budget_.take_steps(kStepsPerSearch);
      set_retries(retries);
      const int result = budget_.timed([&] {
        return onig_match_with_param(regex_, begin_of(text_), end_of(text_),
                                     begin_of(text_) + start, region_.get(), ONIG_OPTION_NONE,
                                     limits_.get());
      });
      if (!exceeded_retries(result)) return result;
      budget_.take_steps(retries);
    }
  }

  regex_t* regex_;
  unsigned long unchecked_retries_;
  std::string_view text_;
  TextBudget& budget_;
  std::unique_ptr<OnigRegion, FreeRegion> region_{onig_region_new()};
  std::unique_ptr<OnigMatchParam, FreeLimits> limits_{onig_new_match_param()};
};

}  // namespace

Pattern::Pattern(std::string_view expression, PatternSyntax syntax, const std::string& place)
    : compiled_(std::make_unique<Compiled>()) {
  compiled_->place = place;
  if (well_formed(expression) != expression) {
    compiled_->fail("the regular expression is not UTF-8");
  }
  const PatternFindings& findings = compiled_->findings = check_pattern(expression);
  std::string error = findings.refusal.value_or("");
  if (error.empty()) {
    compiled_->regex.reset(
        compile(with_symbols(std::string(expression), findings.punctuation), syntax, error));
  }
  if (!compiled_->regex) compiled_->fail("the regular expression is not supported: " + error);
}

Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

void Pattern::each_match(std::string_view text, TextBudget& budget,
                         const std::function<void(size_t begin, size_t end)>& visit) const {
  PatternSearch search(compiled_->regex.get(), compiled_->unchecked_retries(text.size()), text,
                       budget);
  int error = 0;
  bool has_match = false;
  size_t last = 0;  // end of the previous match
  for (size_t start = 0; search.find(start, error);) {
    const size_t begin = search.begin();
    const size_t end = search.end();
    if (begin < end || !has_match || begin != last) {
      visit(begin, end);
      start = last = end;
      has_match = true;
    } else {
      if (end == text.size()) break;
      start = end + character_at(text, end).size;
    }
  }
  if (error == 0) return;
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> message{};
  const int size = onig_error_code_to_str(message.data(), error);
  compiled_->fail(fmt::format(
      "the regular expression fails on a text of {} bytes: {}", text.size(),
      std::string_view(reinterpret_cast<const char*>(message.data()), static_cast<size_t>(size))));
}

}  // namespace vitrine
