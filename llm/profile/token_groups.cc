#include "llm/profile/token_groups.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

#include "inspector/text/row_texts.h"
#include "inspector/text/text_layout.h"

namespace vitrine::llm {
namespace {

using inspector::GroupBy;
using inspector::Profile;

size_t naming_phase(const TokenRow& row) {
  return row.index[kDecode] >= 0 ? kDecode : static_cast<size_t>(Phase::kPrefill);
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void add(const TokenRow& row, TokenGroup& group) {
  for (size_t i = 0; i < kPhases; ++i) {
    group.times.ns[i] += row.times.ns[i];
    group.calls[i] += row.calls[i];
  }
  if (row.times.growth) {
    if (!group.times.growth) group.times.growth.emplace();
    group.times.growth->at_start += row.times.growth->at_start;
    group.times.growth->a_position += row.times.growth->a_position;
  }
  group.weight_bytes += row.weight_bytes;
  group.cache_bytes += row.cache_bytes;
  ++group.rows;
}

bool matches(const inspector::ProfileRow& row, const std::string& filter) {
  if (filter.empty()) return true;
  const auto texts = inspector::row_texts(row);
  for (const std::string* text : {&texts.op, &texts.module, &texts.kernel, &row.delegate}) {
    if (lower(*text).find(filter) != std::string::npos) return true;
  }
  return std::ranges::any_of(row.source_lines, [&](const std::string& line) {
    return lower(line).find(filter) != std::string::npos;
  });
}

double weight_of(const TokenGroup& group) {
  return group.times.ns[kDecode] > 0 ? group.times.ns[kDecode] : group.times.ns[0] * 1e-9;
}

void merge(const TokenGroup& group, TokenGroup& others) {
  TokenRow sum;
  sum.calls = group.calls;
  sum.times = group.times;
  sum.weight_bytes = group.weight_bytes;
  sum.cache_bytes = group.cache_bytes;
  add(sum, others);
  others.rows += group.rows - 1;
}

// Keeps the `top` that took longest, in their order.
void cut(size_t top, TokenGroups& result) {
  std::vector<TokenGroup>& groups = result.groups;
  if (top == 0 || groups.size() <= top) return;
  std::vector<double> weights;
  for (const TokenGroup& group : groups) weights.push_back(weight_of(group));
  std::ranges::nth_element(weights, weights.begin() + static_cast<std::ptrdiff_t>(top) - 1,
                           std::greater());
  const double least = weights[top - 1];
  std::vector<TokenGroup> kept;
  for (TokenGroup& group : groups) {
    if (weight_of(group) >= least && kept.size() < top) {
      kept.push_back(std::move(group));
    } else {
      merge(group, result.others);
    }
  }
  groups = std::move(kept);
}

}  // namespace

const inspector::ProfileRow& named_row(const TokenProfile& profile, const TokenRow& row) {
  const size_t phase = naming_phase(row);
  return profile.methods[row.method].names[phase]->rows[static_cast<size_t>(row.index[phase])];
}

std::string group_name(const TokenProfile& profile, const TokenRow& row, GroupBy by) {
  const size_t phase = naming_phase(row);
  const Profile& names = *profile.methods[row.method].names[phase];
  const auto index = static_cast<size_t>(row.index[phase]);
  std::string joined;
  for (const std::string& part : inspector::group_path(names, index, by)) {
    joined += joined.empty() ? "" : by == GroupBy::kModule ? "." : " ";
    joined += part;
  }
  return inspector::printable(joined.empty() ? "(model)" : joined);
}

TokenGroups group_tokens(const TokenProfile& profile, const inspector::View& view) {
  TokenGroups result;
  std::map<std::string, size_t> index_of;
  const std::string filter = lower(view.filter);
  for (const TokenRow& row : profile.rows) {
    const inspector::ProfileRow& named = named_row(profile, row);
    if (!matches(named, filter)) {
      add(row, result.others);
      continue;
    }
    if (view.by == GroupBy::kNone) {
      const auto texts = inspector::row_texts(named);
      result.groups.push_back(
          {.name = texts.op, .place = texts.place, .module = texts.module, .kernel = texts.kernel});
      add(row, result.groups.back());
      continue;
    }
    std::string name = group_name(profile, row, view.by);
    const auto [found, is_new] = index_of.try_emplace(name, result.groups.size());
    if (is_new) result.groups.push_back({.name = std::move(name)});
    add(row, result.groups[found->second]);
  }
  if (view.by != GroupBy::kNone) {
    std::ranges::stable_sort(result.groups, std::greater(), weight_of);
  }
  cut(view.top, result);
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
      layers.push_back({.name = name, .type = cache.type});
      found = layers.end() - 1;
    }
    ++found->buffers;
    found->are_alike = found->are_alike && found->type == cache.type;
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
  // Caches lie in planned memory.
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
