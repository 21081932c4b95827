#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "inspector/report/csv_cell.h"
#include "inspector/report/fill_page.h"
#include "inspector/report/html/page_text.h"
#include "inspector/report/numerics_json.h"
#include "tools/common/provenance.h"
#include "tools/llm_runner/figures.h"
#include "tools/llm_runner/numerics/html/language_page.h"
#include "tools/llm_runner/numerics/language_figures.h"
#include "tools/llm_runner/numerics/run_numerics.h"

namespace vitrine::tools {
namespace {

using inspector::TensorDifference;
using llm::CacheError;
using llm::CacheRole;
using llm::LanguageNumerics;
using llm::LayerErrors;
using nlohmann::ordered_json;

constexpr int kLanguageNumericsJsonVersion = 1;
constexpr int kNoIndent = -1;

// Infinite and NaN figures become null. A null sqnr_db means equal tensors if `equal` is true.
// Otherwise, a tensor has a NaN or an infinity, or the reference has only zeros.
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
  json["cache_figures"] = {difference_json(cache_figures(layer, CacheRole::kKeys)),
                           difference_json(cache_figures(layer, CacheRole::kValues))};
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

ordered_json language_numerics_json(const LanguageNumerics& numerics) {
  ordered_json json;
  json["language_numerics_version"] = kLanguageNumericsJsonVersion;
  json["tool"] = tool_version();
  json["program"] = numerics.program;
  json["reference"] = numerics.reference;
  json["tokens"] = numerics.tokens;
  json["recorded_positions"] = numerics.recorded;
  const auto names = cache_names(numerics);
  json["cache_names"] = {names.first, names.second};
  json["positions"] = ordered_json::array();
  for (size_t i = 0; i < numerics.blocks.size(); ++i) {
    const llm::PositionBlock& block = numerics.blocks[i];
    const ordered_json caches = {difference_json(caches_in(numerics, CacheRole::kKeys, i)),
                                 difference_json(caches_in(numerics, CacheRole::kValues, i))};
    json["positions"].push_back({{"first", block.range.first},
                                 {"last", block.range.second - 1},
                                 {"mean_kl", finite_or_null(block.mean_kl)},
                                 {"max_kl", finite_or_null(block.max_kl)},
                                 {"max_kl_at", block.max_kl_at},
                                 {"same_top_1", block.same_top},
                                 {"cache_figures", caches},
                                 {"logits", difference_json(block.logits)}});
  }
  json["layers"] = ordered_json::array();
  for (const LayerErrors& layer : numerics.layers) json["layers"].push_back(layer_json(layer));
  json["logits"] = difference_json(all_logits(numerics));
  json["notes"] = notes_of(numerics);
  return json;
}

std::string dump(const ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

// Returns a line, or an empty text without figures.
std::string csv_line(const char* value, const std::string& layer, const std::string& positions,
                     const std::string& divergence,
                     const std::optional<TensorDifference>& figures) {
  if (!figures) return "";
  return fmt::format("{},{},{},{},{},{},{}\n", value, inspector::csv_cell(layer), positions,
                     divergence, inspector::sqnr_csv(figures), figures->cosine, figures->max_abs);
}

std::string range_csv(const llm::PositionRange& range) {
  return fmt::format("{},{}", range.first, range.second - 1);
}

}  // namespace

std::string report_language_numerics_json(const LanguageNumerics& numerics) {
  return dump(language_numerics_json(numerics), 2) + "\n";
}

std::string report_language_numerics_csv(const LanguageNumerics& numerics) {
  constexpr char kAllPositions[] = ",";
  constexpr char kNoDivergence[] = ",,,";
  std::string text =
      "value,layer,first,last,mean_kl,max_kl,max_kl_at,same_top_1,sqnr_db,cosine,max_abs\n";
  for (const LayerErrors& layer : numerics.layers) {
    text += csv_line("attention", layer.name, kAllPositions, kNoDivergence, layer.attention);
    text += csv_line("output", layer.name, kAllPositions, kNoDivergence, layer.output);
    for (const CacheError& cache : layer.caches) {
      constexpr const char* kNames[] = {"cache", "k cache", "v cache"};
      for (size_t i = 0; i < cache.ranges.size(); ++i) {
        text += csv_line(kNames[static_cast<size_t>(cache.role)], layer.name,
                         range_csv(numerics.blocks.at(i).range), kNoDivergence, cache.ranges[i]);
      }
    }
  }
  for (const llm::PositionBlock& block : numerics.blocks) {
    text += csv_line(
        "logits", "", range_csv(block.range),
        fmt::format("{},{},{},{}", block.mean_kl, block.max_kl, block.max_kl_at, block.same_top),
        block.logits);
  }
  return text;
}

std::string report_language_numerics_html(const LanguageNumerics& numerics) {
  namespace html = inspector::html;
  const std::string data =
      inspector::without_tags(dump(language_numerics_json(numerics), kNoIndent));
  const std::string style = std::string(html::kStyle).append(html::kNumericsStyle);
  const std::string script = std::string(html::kElements).append(llm::html::kLanguageScript);
  return inspector::fill_page(llm::html::kLanguagePage,
                              {{"{{style}}", style}, {"{{data}}", data}, {"{{script}}", script}});
}

}  // namespace vitrine::tools
