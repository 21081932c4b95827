// Refuses regular expressions that could make a search by Oniguruma take unbounded time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine {

struct PatternFindings {
  std::optional<std::string> refusal;  // names what is not accepted
  // The offsets at which [:punct:] and [:^punct:] begin in the expression, in ascending order.
  std::vector<size_t> punctuation;
  // For a text of N bytes, the work between two retries is at most `work_per_byte` * N + `repeats`.
  uint64_t work_per_byte = 1;
  uint64_t repeats = 0;
};

// Oniguruma limits how often a match retries, but not the work between two retries. This check
// bounds that work: it refuses repeated look-arounds that scan the text, and repeat counts with
// large products or sums. It also refuses calls to groups, \K and \G, which the search does not
// support. Most malformed expressions pass this check, but Oniguruma refuses them.
PatternFindings check_pattern(std::string_view expression);

}  // namespace vitrine
