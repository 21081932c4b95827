#include "tools/llm_runner/numerics/language_figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace vitrine::tools {
namespace {

using inspector::TensorDifference;
using llm::CacheError;
using llm::CacheRole;
using llm::LanguageNumerics;
using llm::LayerErrors;

// Returns a layer's key or value cache, or null. If the roles are unknown, the first cache counts
// as keys and the second cache as values.
const CacheError* find_cache(const LayerErrors& layer, CacheRole role) {
  const auto found = std::ranges::find(layer.caches, role, &CacheError::role);
  if (found != layer.caches.end()) return &*found;
  const size_t index = role == CacheRole::kKeys ? 0 : 1;
  const bool is_unknown =
      index < layer.caches.size() && layer.caches[index].role == CacheRole::kUnknown;
  return is_unknown ? &layer.caches[index] : nullptr;
}

template <class Predicate>
bool has_caches(const LanguageNumerics& numerics, Predicate predicate) {
  return std::ranges::any_of(numerics.layers, [&](const LayerErrors& layer) {
    return std::ranges::any_of(layer.caches, predicate);
  });
}

void add(std::optional<TensorDifference>& all, const TensorDifference& one) {
  if (all) {
    inspector::add_difference(*all, one);
  } else {
    all = one;
  }
}

}  // namespace

std::optional<TensorDifference> cache_figures(const LayerErrors& layer, CacheRole role) {
  std::optional<TensorDifference> all;
  const CacheError* cache = find_cache(layer, role);
  if (cache == nullptr) return all;
  for (const TensorDifference& range : cache->ranges) add(all, range);
  return all;
}

std::optional<TensorDifference> caches_in(const LanguageNumerics& numerics, CacheRole role,
                                          size_t range) {
  std::optional<TensorDifference> all;
  for (const LayerErrors& layer : numerics.layers) {
    const CacheError* cache = find_cache(layer, role);
    if (cache != nullptr && range < cache->ranges.size()) add(all, cache->ranges[range]);
  }
  return all;
}

std::pair<const char*, const char*> cache_names(const LanguageNumerics& numerics) {
  const bool are_unknown = has_caches(
      numerics, [](const CacheError& cache) { return cache.role == CacheRole::kUnknown; });
  if (are_unknown) return {"cache 1", "cache 2"};
  return {"k cache", "v cache"};
}

TensorDifference all_logits(const LanguageNumerics& numerics) {
  TensorDifference logits = numerics.blocks.front().logits;
  for (size_t i = 1; i < numerics.blocks.size(); ++i) {
    inspector::add_difference(logits, numerics.blocks[i].logits);
  }
  return logits;
}

std::vector<std::string> notes_of(const LanguageNumerics& numerics) {
  std::vector<std::string> notes = numerics.notes;
  if (!numerics.why_no_layers.empty()) notes.push_back("layers: " + numerics.why_no_layers);
  if (!numerics.why_no_caches.empty()) notes.push_back("caches: " + numerics.why_no_caches);
  if (has_caches(numerics, [](const CacheError& cache) { return cache.is_paired_by_noise; })) {
    notes.push_back(
        "the programs do not name keys and values: the two caches of each layer are paired in the "
        "order with less noise");
  }
  std::string last;
  for (const LayerErrors& layer : numerics.layers) {
    for (const CacheError& cache : layer.caches) {
      if (!cache.why_not.empty() && std::exchange(last, cache.why_not) != cache.why_not) {
        notes.push_back(fmt::format("caches of {}: {}", layer.name, cache.why_not));
      }
    }
  }
  if (numerics.dropped_values != 0) {
    notes.push_back(fmt::format("{} values did not fit into memory and were not measured",
                                numerics.dropped_values));
  }
  return notes;
}

}  // namespace vitrine::tools
