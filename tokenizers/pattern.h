// Regular expressions over Unicode text, by ICU, with bounds on what a match may cost.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace vitrine {

class Pattern {
 public:
  static constexpr size_t kMostBytes = 64 << 10;  // of an expression

  // Throws TokenizerError naming `place` if it is not a pattern of ICU's.
  Pattern(const std::string& expression, const std::string& place);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  // Gives the matches of well-formed text from left to right, empty ones too, as byte ranges.
  // TokenizerError if the pattern costs more than a text of this length may.
  void each_match(std::string_view text,
                  const std::function<void(size_t begin, size_t end)>& visit) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace vitrine
