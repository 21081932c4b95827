#include "tools/llm_runner/profile/token_groups.h"

#include <algorithm>

#include "base/text/text_layout.h"
#include "inspector/report/row_texts.h"

namespace vitrine::llm {
namespace {

TokenGroup sum_of(const TokenProfile& profile, const std::vector<size_t>& rows) {
  TokenGroup sum;
  for (const size_t row : rows) sum += profile.rows[row];
  sum.rows = rows.size();
  return sum;
}

}  // namespace

TokenGroups group_tokens(const TokenProfile& profile, inspector::View view) {
  view.is_flat = true;
  inspector::Grouping grouping = inspector::group_rows(profile.names, view);
  TokenGroups result;
  for (const inspector::Group& group : grouping.groups) {
    TokenGroup& made = result.groups.emplace_back(sum_of(profile, group.rows));
    made.name = group.name;
    if (view.by != inspector::GroupBy::kNone) continue;
    const auto texts = inspector::row_texts(profile.names.rows[group.rows[0]]);
    made.place = texts.place;
    made.module = texts.module;
    made.kernel = texts.kernel;
    made.short_kernel = texts.short_kernel;
  }
  std::vector<size_t>& others = grouping.other_rows;
  others.insert(others.end(), grouping.filtered_rows.begin(), grouping.filtered_rows.end());
  result.others = sum_of(profile, others);
  return result;
}

std::vector<CacheLayer> cache_layers(const TokenProfile& profile) {
  std::vector<CacheLayer> layers;
  for (const CacheBuffer& cache : profile.caches) {
    const std::string name = inspector::printable(!cache.layer.empty()  ? cache.layer
                                                  : !cache.name.empty() ? cache.name
                                                                        : "(unnamed)");
    auto found = std::ranges::find(layers, name, &CacheLayer::name);
    if (found == layers.end()) {
      layers.push_back({.name = name});
      found = layers.end() - 1;
    }
    ++found->buffers;
    found->bytes += cache.bytes;
  }
  return layers;
}

std::vector<CacheSpan> cache_spans(const TokenProfile& profile) {
  const std::vector<CacheLayer> layers = cache_layers(profile);
  std::vector<CacheSpan> spans;
  for (size_t first = 0; first < layers.size();) {
    size_t last = first;
    while (last + 1 < layers.size() && layers[last + 1].bytes == layers[first].bytes &&
           layers[last + 1].buffers == layers[first].buffers) {
      ++last;
    }
    const std::string& name = layers[first].name;
    spans.push_back({.name = last == first ? name : name + " to " + layers[last].name,
                     .layers = last - first + 1,
                     .bytes = layers[first].bytes});
    first = last + 1;
  }
  return spans;
}

std::vector<MemoryPart> memory_parts(const TokenProfile& profile) {
  double cache = 0;
  for (const CacheBuffer& buffer : profile.caches) cache += static_cast<double>(buffer.bytes);
  const inspector::MemoryInfo memory = profile.run.memory.value_or(inspector::MemoryInfo{});
  // Caches are part of planned memory, but are reported separately.
  const double activations = std::max(0.0, static_cast<double>(memory.planned) - cache);
  std::vector<MemoryPart> parts = {{"weights in the file", profile.weights_in_file},
                                   {"packed", static_cast<double>(memory.packed_weights)},
                                   {"packed in a file", static_cast<double>(memory.mapped_weights)},
                                   {"other constants", static_cast<double>(memory.constants)},
                                   {"cache", cache, true},
                                   {"activations", activations},
                                   {"workspace", static_cast<double>(memory.workspace)}};
  std::erase_if(parts, [](const MemoryPart& part) { return part.bytes <= 0; });
  return parts;
}

}  // namespace vitrine::llm
