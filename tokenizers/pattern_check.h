// Refuses regular expressions that could make a search by Oniguruma take unbounded time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

struct PatternFindings {
  std::optional<std::string> refusal;  // names the refused construct
  // Ascending offsets of [:punct:] and [:^punct:] in the expression.
  std::vector<size_t> punctuation;
  // For a text of N bytes, the work between two retries is at most `work_per_byte` * N + `repeats`.
  uint64_t work_per_byte = 1;
  uint64_t repeats = 0;
};

// Oniguruma limits the retries of a match, but not the work between two retries. This check bounds
// that work: it refuses repeated look-arounds that scan the text, and repeat counts with large
// products or sums. It also refuses calls to groups, \K and \G. Oniguruma, not this check, finds
// malformed expressions.
PatternFindings check_pattern(std::string_view expression);

}  // namespace vitrine
