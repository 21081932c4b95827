#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "tools/common/provenance.h"
#include "tools/llm_runner/figures.h"
#include "tools/llm_runner/numerics/run_numerics.h"

namespace vitrine::tools {
namespace {

using inspector::kDot;
using inspector::printable;
using inspector::TensorDifference;
using inspector::TextTable;
using llm::CacheError;
using llm::CacheRole;
using llm::LanguageNumerics;
using llm::LayerErrors;
using nlohmann::ordered_json;

constexpr int kLanguageNumericsJsonVersion = 1;

std::string db_text(double db) {
  return std::isinf(db) && db > 0 ? "same" : fmt::format("{:.1f}", db);
}

std::string db_text(const std::optional<TensorDifference>& difference) {
  return difference ? db_text(difference->sqnr_db) : "-";
}

// Joins the ranges of positions of a cache.
std::optional<TensorDifference> all_ranges(const CacheError& cache) {
  std::optional<TensorDifference> all;
  for (const TensorDifference& range : cache.ranges) {
    if (all) {
      inspector::add_difference(*all, range);
    } else {
      all = range;
    }
  }
  return all;
}

// Returns the cache of keys or values of a layer. Without roles, they are the first and the second
// one. Null if there is none.
const CacheError* find_cache(const LayerErrors& layer, CacheRole role) {
  const auto found = std::ranges::find(layer.caches, role, &CacheError::role);
  if (found != layer.caches.end()) return &*found;
  const size_t index = role == CacheRole::kKeys ? 0 : 1;
  const bool is_unknown =
      index < layer.caches.size() && layer.caches[index].role == CacheRole::kUnknown;
  return is_unknown ? &layer.caches[index] : nullptr;
}

// The caches of all layers in one range of positions.
std::optional<TensorDifference> caches_in(const LanguageNumerics& numerics, CacheRole role,
                                          size_t range) {
  std::optional<TensorDifference> all;
  for (const LayerErrors& layer : numerics.layers) {
    const CacheError* cache = find_cache(layer, role);
    if (cache == nullptr || range >= cache->ranges.size()) continue;
    if (all) {
      inspector::add_difference(*all, cache->ranges[range]);
    } else {
      all = cache->ranges[range];
    }
  }
  return all;
}

std::string cache_text(const LayerErrors& layer, CacheRole role) {
  const CacheError* cache = find_cache(layer, role);
  return cache == nullptr ? "-" : db_text(all_ranges(*cache));
}

template <class Predicate>
bool has_caches(const LanguageNumerics& numerics, Predicate predicate) {
  return std::ranges::any_of(numerics.layers, [&](const LayerErrors& layer) {
    return std::ranges::any_of(layer.caches, predicate);
  });
}

void add_cache_columns(TextTable& table, const LanguageNumerics& numerics, size_t rank) {
  const bool are_unknown = has_caches(
      numerics, [](const CacheError& cache) { return cache.role == CacheRole::kUnknown; });
  table.add_column(are_unknown ? "cache 1 dB" : "k cache dB", TextTable::Kind::kFigure, rank);
  table.add_column(are_unknown ? "cache 2 dB" : "v cache dB", TextTable::Kind::kFigure, rank);
}

std::string layer_table(const LanguageNumerics& numerics, const inspector::TableOptions& options) {
  TextTable table;
  table.add_column("layer", TextTable::Kind::kPath);
  table.add_column({"attention dB", "attn dB"}, TextTable::Kind::kFigure);
  add_cache_columns(table, numerics, 0);
  table.add_column("output dB", TextTable::Kind::kFigure);
  for (const LayerErrors& layer : numerics.layers) {
    table.add_row({printable(layer.name), db_text(layer.attention),
                   cache_text(layer, CacheRole::kKeys), cache_text(layer, CacheRole::kValues),
                   db_text(layer.output)});
  }
  TensorDifference logits = numerics.blocks.front().logits;
  for (size_t i = 1; i < numerics.blocks.size(); ++i) {
    inspector::add_difference(logits, numerics.blocks[i].logits);
  }
  table.add_row({"logits", "-", "-", "-", db_text(logits.sqnr_db)});
  return table.text(options.width, options.color);
}

std::string position_table(const LanguageNumerics& numerics,
                           const inspector::TableOptions& options) {
  TextTable table;
  table.add_column("positions", TextTable::Kind::kName);
  table.add_column("mean KL", TextTable::Kind::kFigure);
  table.add_column("max KL", TextTable::Kind::kFigure, 2);
  table.add_column("at", TextTable::Kind::kFigure, 1);
  table.add_column("same top-1 %", TextTable::Kind::kFigure);
  add_cache_columns(table, numerics, 3);
  table.add_column("logits dB", TextTable::Kind::kFigure);
  for (size_t i = 0; i < numerics.blocks.size(); ++i) {
    const llm::PositionBlock& block = numerics.blocks[i];
    const auto count = static_cast<double>(block.range.second - block.range.first);
    table.add_row({fmt::format("{} to {}", block.range.first, block.range.second - 1),
                   fmt::format("{:.3g}", block.mean_kl), fmt::format("{:.3g}", block.max_kl),
                   std::to_string(block.max_kl_at),
                   fmt::format("{:.1f}", kPercent * static_cast<double>(block.same_top) / count),
                   db_text(caches_in(numerics, CacheRole::kKeys, i)),
                   db_text(caches_in(numerics, CacheRole::kValues, i)),
                   db_text(block.logits.sqnr_db)});
  }
  return table.text(options.width, options.color);
}

// Figures without a finite value are null; `equal` tells equal tensors from those with a NaN.
ordered_json difference_json(const std::optional<TensorDifference>& difference) {
  if (!difference) return {};
  const bool has_figures = std::isfinite(difference->sqnr_db);
  const bool is_equal = !has_figures && difference->sqnr_db > 0;
  return {{"equal", is_equal},
          {"sqnr_db", finite_or_null(difference->sqnr_db)},
          {"cosine", has_figures || is_equal ? finite_or_null(difference->cosine) : ordered_json()},
          {"max_abs", finite_or_null(difference->max_abs)}};
}

ordered_json layer_json(const LayerErrors& layer) {
  ordered_json json;
  json["layer"] = layer.name;
  json["attention_op"] = layer.attention_op;
  json["attention"] = difference_json(layer.attention);
  json["output_op"] = layer.output_op;
  json["output"] = difference_json(layer.output);
  json["output_db_at_recorded"] = ordered_json::array();
  for (const std::optional<double>& db : layer.output_db) {
    json["output_db_at_recorded"].push_back(db ? finite_or_null(*db) : ordered_json());
  }
  json["caches"] = ordered_json::array();
  for (const CacheError& cache : layer.caches) {
    constexpr const char* kRoles[] = {"unknown", "keys", "values"};
    ordered_json figures = {{"role", kRoles[static_cast<size_t>(cache.role)]},
                            {"reference", cache.type_a},
                            {"program", cache.type_b}};
    figures["why_not"] = cache.why_not.empty() ? ordered_json() : ordered_json(cache.why_not);
    figures["by_positions"] = ordered_json::array();
    for (const TensorDifference& range : cache.ranges) {
      figures["by_positions"].push_back(difference_json(range));
    }
    json["caches"].push_back(std::move(figures));
  }
  return json;
}

std::vector<std::string> notes_of(const LanguageNumerics& numerics) {
  std::vector<std::string> notes = numerics.notes;
  if (!numerics.why_no_layers.empty()) notes.push_back("layers: " + numerics.why_no_layers);
  if (!numerics.why_no_caches.empty()) notes.push_back("caches: " + numerics.why_no_caches);
  if (has_caches(numerics, [](const CacheError& cache) { return cache.is_paired_by_noise; })) {
    notes.push_back(
        "the programs do not tell keys from values: the two caches of a layer are paired so that "
        "the noise is smaller");
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
    notes.push_back(fmt::format("{} values did not fit into memory and are not measured",
                                numerics.dropped_values));
  }
  return notes;
}

}  // namespace

std::string report_language_numerics(const LanguageNumerics& numerics,
                                     const inspector::TableOptions& options) {
  const size_t width = std::max(options.width, inspector::kMinWidth);
  std::string positions;
  for (const size_t position : numerics.recorded) {
    positions += (positions.empty() ? "" : ", ") + std::to_string(position);
  }
  std::string text = inspector::wrap(
      "",
      {"program " + printable(numerics.program), "reference " + printable(numerics.reference),
       inspector::counted(numerics.tokens, "token")},
      kDot, width);
  if (!positions.empty() && numerics.why_no_layers.empty()) {
    text += inspector::wrap_words("", "layers measured at positions " + positions, width);
  }
  text += '\n' + layer_table(numerics, options) + '\n' + position_table(numerics, options);
  const std::vector<std::string> notes = notes_of(numerics);
  return notes.empty() ? text : text + '\n' + inspector::wrap_notes(notes, width);
}

std::string report_language_numerics_json(const LanguageNumerics& numerics) {
  ordered_json json;
  json["language_numerics_version"] = kLanguageNumericsJsonVersion;
  json["tool"] = tool_version();
  json["program"] = numerics.program;
  json["reference"] = numerics.reference;
  json["tokens"] = numerics.tokens;
  json["recorded_positions"] = numerics.recorded;
  json["positions"] = ordered_json::array();
  for (const llm::PositionBlock& block : numerics.blocks) {
    json["positions"].push_back({{"first", block.range.first},
                                 {"last", block.range.second - 1},
                                 {"mean_kl", finite_or_null(block.mean_kl)},
                                 {"max_kl", finite_or_null(block.max_kl)},
                                 {"max_kl_at", block.max_kl_at},
                                 {"same_top_1", block.same_top},
                                 {"logits", difference_json(block.logits)}});
  }
  json["layers"] = ordered_json::array();
  for (const LayerErrors& layer : numerics.layers) json["layers"].push_back(layer_json(layer));
  json["notes"] = notes_of(numerics);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace vitrine::tools
