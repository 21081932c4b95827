#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "tools/llm_runner/figures.h"
#include "tools/llm_runner/numerics/language_figures.h"
#include "tools/llm_runner/numerics/run_numerics.h"

namespace vitrine::tools {
namespace {

using inspector::kDot;
using inspector::printable;
using inspector::TensorDifference;
using inspector::TextTable;
using llm::CacheRole;
using llm::LanguageNumerics;
using llm::LayerErrors;

std::string db_text(double db) {
  return std::isinf(db) && db > 0 ? "same" : fmt::format("{:.1f}", db);
}

std::string db_text(const std::optional<TensorDifference>& difference) {
  return difference ? db_text(difference->sqnr_db) : "-";
}

std::string cache_text(const LayerErrors& layer, CacheRole role) {
  return db_text(cache_figures(layer, role));
}

void add_cache_columns(TextTable& table, const LanguageNumerics& numerics, size_t rank) {
  const auto [keys, values] = cache_names(numerics);
  table.add_column(std::string(keys) + " dB", TextTable::Kind::kFigure, rank);
  table.add_column(std::string(values) + " dB", TextTable::Kind::kFigure, rank);
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
  table.add_row({"logits", "-", "-", "-", db_text(all_logits(numerics).sqnr_db)});
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

}  // namespace vitrine::tools
