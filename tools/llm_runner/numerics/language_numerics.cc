#include "tools/llm_runner/numerics/language_numerics.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "tools/llm_runner/profile/method_bytes.h"

namespace vitrine::llm {
namespace {

using inspector::ComparedValue;
using inspector::Profile;
using inspector::ProfileRow;

constexpr std::array<std::string_view, 5> kAttentionModules = {"attention", "attn", "self_attn",
                                                               "self_attention", "SDPA"};

// Rates how likely a value is its layer's attention result or output. Ties: the last value wins.
enum Fit : uint8_t { kUnfit, kFits, kFitsWell };

struct NamedValue {
  const ComparedValue* value;
  std::string op, module;
};

NamedValue name_of(const ComparedValue& value, const Profile& profile) {
  NamedValue named{&value, {}, {}};
  if (value.op.rows_a.empty()) return named;
  const ProfileRow& row = profile.rows[value.op.rows_a.back()];
  if (!row.source_ops.empty()) named.op = row.source_ops.back();
  if (!row.modules.empty()) named.module = row.modules.back();
  return named;
}

bool has_component(std::string_view path, std::span<const std::string_view> components) {
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    if (std::ranges::count(components, path.substr(begin, end - begin)) != 0) return true;
    begin = end + 1;
  }
  return false;
}

Fit attention_fit(const NamedValue& named) {
  const bool is_operator = named.op.find("sdpa") != std::string::npos ||
                           named.op.find("scaled_dot_product_attention") != std::string::npos;
  if (is_operator) return kFitsWell;
  return has_component(named.module, kAttentionModules) ? kFits : kUnfit;
}

void add_difference(std::optional<inspector::TensorDifference>& all,
                    const inspector::TensorDifference& one) {
  if (all) {
    inspector::add_difference(*all, one);
  } else {
    all = one;
  }
}

struct LayerValues {
  NamedValue attention{}, output{};
  Fit attention_fit = kUnfit, output_fit = kUnfit;
};

void offer(NamedValue& best, Fit& best_fit, const NamedValue& named, Fit fit) {
  if (fit == kUnfit || fit < best_fit) return;
  best = named;
  best_fit = fit;
}

LayerErrors& layer(LanguageNumerics& all, const std::string& name) {
  const auto found = std::ranges::find(all.layers, name, &LayerErrors::name);
  if (found != all.layers.end()) return *found;
  all.layers.push_back({});
  all.layers.back().name = name;
  return all.layers.back();
}

const etrecord::EdgeNode* producer_of(const etrecord::EdgeGraph& graph, size_t value) {
  for (const etrecord::EdgeNode& node : graph.nodes) {
    if (std::ranges::count(node.results, value) != 0) return &node;
  }
  return nullptr;
}

const std::vector<size_t>* argument_of(const etrecord::EdgeNode& node, std::string_view name) {
  const auto found = std::ranges::find(node.arguments, name, &etrecord::EdgeArgument::name);
  return found == node.arguments.end() || found->values.empty() ? nullptr : &found->values;
}

bool is_update(const etrecord::EdgeNode& node) {
  return node.target.find("update_cache") != std::string::npos;
}

// Finds the cache update that produces `value`, possibly through views and copies.
const etrecord::EdgeNode* find_update(const etrecord::EdgeGraph& graph, size_t value) {
  constexpr int kMaxSteps = 16;
  for (int step = 0; step < kMaxSteps; ++step) {
    // `value` may be the cache argument of an update instead of its result.
    for (const etrecord::EdgeNode& node : graph.nodes) {
      const std::vector<size_t>* cache = is_update(node) ? argument_of(node, "cache") : nullptr;
      if (cache != nullptr && cache->front() == value) return &node;
    }
    const etrecord::EdgeNode* node = producer_of(graph, value);
    if (node == nullptr || is_update(*node)) return node;
    if (node->arguments.empty() || node->arguments.front().values.empty()) return nullptr;
    value = node->arguments.front().values.front();
  }
  return nullptr;
}

// Returns the roles of the caches that attention operators read. The key is the debug handle of the
// instruction that updates the cache.
std::map<uint32_t, CacheRole> cache_roles(const etrecord::EdgeGraph& graph) {
  constexpr std::pair<std::string_view, CacheRole> kArguments[] = {{"key", CacheRole::kKeys},
                                                                   {"value", CacheRole::kValues}};
  std::map<uint32_t, CacheRole> roles;
  for (const etrecord::EdgeNode& node : graph.nodes) {
    if (node.target.find("sdpa") == std::string::npos) continue;
    for (const auto& [name, role] : kArguments) {
      const std::vector<size_t>* values = argument_of(node, name);
      const etrecord::EdgeNode* update =
          values == nullptr ? nullptr : find_update(graph, values->front());
      if (update != nullptr && update->debug_handle != 0) roles[update->debug_handle] = role;
    }
  }
  return roles;
}

bool is_below_limit(const std::optional<inspector::TensorDifference>& difference, double limit) {
  // An SQNR of NaN counts as below the limit.
  return difference && !(difference->sqnr_db >= limit);
}

}  // namespace

void add_layers(LanguageNumerics& all, const inspector::ValueComparison& comparison,
                const Profile& reference, size_t index) {
  all.alignment = comparison.alignment;
  std::vector<std::pair<std::string, LayerValues>> layers;  // in run order
  for (const ComparedValue& value : comparison.values) {
    if (!value.difference.why_not.empty()) continue;
    const NamedValue named = name_of(value, reference);
    const std::string name = layer_of(named.module);
    // Skips values outside of layers, and the results of cache updates.
    if (name.empty() || named.op.find("update_cache") != std::string::npos) continue;
    auto found = std::ranges::find(layers, name, &std::pair<std::string, LayerValues>::first);
    if (found == layers.end()) found = layers.insert(layers.end(), {name, {}});
    LayerValues& values = found->second;
    offer(values.attention, values.attention_fit, named, attention_fit(named));
    offer(values.output, values.output_fit, named, named.module == name ? kFitsWell : kFits);
  }
  for (const auto& [name, values] : layers) {
    LayerErrors& errors = layer(all, name);
    errors.output_db.resize(index + 1);
    if (values.attention.value != nullptr) {
      add_difference(errors.attention, values.attention.value->difference.figures);
      errors.attention_op = values.attention.op + " " + values.attention.module;
    }
    if (values.output.value != nullptr) {
      add_difference(errors.output, values.output.value->difference.figures);
      errors.output_op = values.output.op + " " + values.output.module;
      errors.output_db[index] = values.output.value->difference.figures.sqnr_db;
    }
  }
  if (layers.empty()) {
    all.why_no_layers =
        "no compared value belongs to a known layer: lower both programs with pte_lower, or give "
        "their ETRecords with --etrecord and --reference_etrecord";
  }
}

void name_caches(std::vector<FoundCache>& caches, const inspector::ValueRun& run) {
  const std::map<uint32_t, CacheRole> roles =
      run.record == nullptr ? std::map<uint32_t, CacheRole>() : cache_roles(run.record->graph);
  for (FoundCache& cache : caches) {
    for (const ProfileRow& row : run.profile.rows) {
      if (row.where != inspector::Where::kKernel || row.instruction != cache.instruction) continue;
      if (!row.modules.empty()) cache.layer = layer_of(row.modules.back());
      for (const uint32_t handle : row.debug_handles) {
        const auto role = roles.find(handle);
        if (role != roles.end()) cache.role = role->second;
      }
    }
  }
}

void add_caches(LanguageNumerics& all, std::vector<CacheError> caches) {
  for (CacheError& cache : caches) {
    layer(all, cache.layer).caches.push_back(std::move(cache));
  }
}

std::vector<PositionRange> split_positions(size_t tokens, size_t count) {
  count = std::min(count, tokens);
  std::vector<PositionRange> ranges;
  for (size_t i = 0; i < count; ++i) {
    ranges.emplace_back(i * tokens / count, (i + 1) * tokens / count);
  }
  return ranges;
}

bool is_below(const LanguageNumerics& numerics, double limit) {
  return std::ranges::any_of(numerics.layers, [&](const LayerErrors& errors) {
    const bool has_bad_cache = std::ranges::any_of(errors.caches, [&](const CacheError& cache) {
      return std::ranges::any_of(cache.ranges, [&](const inspector::TensorDifference& range) {
        return is_below_limit(range, limit);
      });
    });
    return has_bad_cache || is_below_limit(errors.attention, limit) ||
           is_below_limit(errors.output, limit);
  });
}

}  // namespace vitrine::llm
