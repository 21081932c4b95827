// The rows of a token profile, grouped for its reports.
#pragma once

#include <string>
#include <vector>

#include "inspector/report/grouping.h"
#include "llm/profile/token_profile.h"

namespace vitrine::llm {

struct TokenGroup {
  std::string name;                                  // printable; GroupBy::kNone: the op
  std::string place = {}, module = {}, kernel = {};  // GroupBy::kNone
  size_t rows = 0;
  std::array<uint64_t, kPhases> calls = {};
  Times times = {};
  // As of TokenRow, sums.
  double weight_bytes = 0;
  double cache_bytes = 0;
};

struct TokenGroups {
  std::vector<TokenGroup>
      groups;         // kNone: in run order; else those of decode that took longest first
  TokenGroup others;  // beyond the top, and filtered out
};
TokenGroups group_tokens(const TokenProfile& profile, const inspector::View& view);

// Caches of one layer; those of no known layer go by name, or by type.
struct CacheLayer {
  std::string name;  // printable
  size_t buffers = 0;
  std::string type;  // of the first buffer
  bool are_alike = true;
  uint64_t bytes = 0;
};
std::vector<CacheLayer> cache_layers(const TokenProfile& profile);

// Neighbours that are alike.
struct CacheSpan {
  std::string name;  // "layers.0 to layers.3"
  size_t layers = 1;
  uint64_t bytes = 0;  // of each
};
std::vector<CacheSpan> cache_spans(const TokenProfile& profile);

// What the methods hold, without what is empty.
struct MemoryPart {
  const char* name;
  double bytes = 0;
  bool is_cache = false;
};
std::vector<MemoryPart> memory_parts(const TokenProfile& profile);

// What the row is summed under: the name of its group. kNone: empty.
std::string group_name(const TokenProfile& profile, const TokenRow& row, inspector::GroupBy by);

// The profile's row of names: of decode if it ran there.
const inspector::ProfileRow& named_row(const TokenProfile& profile, const TokenRow& row);

}  // namespace vitrine::llm
