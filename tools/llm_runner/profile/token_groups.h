// Groups the rows, caches and memory of a token profile for its reports.
#pragma once

#include <string>
#include <vector>

#include "inspector/report/grouping.h"
#include "tools/llm_runner/profile/token_profile.h"

namespace vitrine::llm {

struct TokenGroup : TokenCost {
  std::string name;  // printable; the op if rows are not grouped
  // These texts are set only if rows are not grouped.
  std::string place, module, kernel, short_kernel;
  size_t rows = 0;
};

struct TokenGroups {
  // Sorted by decode time, largest first. Ungrouped rows are in run order.
  std::vector<TokenGroup> groups;
  TokenGroup others;  // groups beyond View::top, and rows that the filter excludes
};
TokenGroups group_tokens(const TokenProfile& profile, inspector::View view);

// Caches of one layer. A cache of an unknown layer forms a group under its own name.
struct CacheLayer {
  std::string name;  // printable
  size_t buffers = 0;
  uint64_t bytes = 0;
};
std::vector<CacheLayer> cache_layers(const TokenProfile& profile);

// Consecutive layers with equal numbers of buffers and bytes.
struct CacheSpan {
  std::string name;  // "layers.0 to layers.3"
  size_t layers = 1;
  uint64_t bytes = 0;  // bytes per layer
};
std::vector<CacheSpan> cache_spans(const TokenProfile& profile);

// memory_parts() omits kinds of memory with 0 bytes.
struct MemoryPart {
  const char* name;
  double bytes = 0;
  bool is_cache = false;
};
std::vector<MemoryPart> memory_parts(const TokenProfile& profile);

}  // namespace vitrine::llm
