#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"
#include "base/text/text_table.h"
#include "inspector/report/csv_cell.h"
#include "tools/common/provenance.h"
#include "tools/llm_runner/figures.h"
#include "tools/llm_runner/perplexity.h"

namespace vitrine::tools {
namespace {

using inspector::kDot;
using inspector::printable;
using inspector::TextTable;
using inspector::wrap;
using inspector::wrap_words;
using nlohmann::ordered_json;

constexpr int kPerplexityJsonVersion = 1;
constexpr double kSecond = 1e9;

std::string estimate_text(const RatioEstimate& estimate, double factor, int decimals, bool sign) {
  const std::string value = sign ? fmt::format("{:+.{}f}", estimate.value * factor, decimals)
                                 : fmt::format("{:.{}f}", estimate.value * factor, decimals);
  if (!estimate.error) return value;
  return fmt::format("{} ± {:.{}f}", value, *estimate.error * factor, decimals);
}

// Formats exp(estimate.value) and, if known, its confidence interval.
std::string power_text(const RatioEstimate& estimate, int decimals) {
  const std::string value = fmt::format("{:.{}f}", std::exp(estimate.value), decimals);
  if (!estimate.error) return value;
  return fmt::format("{} ({:.{}f} to {:.{}f})", value, std::exp(estimate.value - *estimate.error),
                     decimals, std::exp(estimate.value + *estimate.error), decimals);
}

double tokens_per_second(const ModelFigures& model, size_t tokens) {
  return model.model_ns == 0
             ? 0
             : static_cast<double>(tokens) * kSecond / static_cast<double>(model.model_ns);
}

// Quotes a text. Shows a line break as \n.
std::string visible(std::string text) {
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2)) {
    text.replace(at, 1, "\\n");
  }
  return '"' + printable(text) + '"';
}

std::string figures_table(const Perplexity& result, const inspector::TableOptions& options) {
  const std::optional<PairFigures>& pair = result.pair;
  const auto& models = result.models;
  const size_t tokens = result.scores.a.size();
  TextTable table;
  table.add_column("", TextTable::Kind::kUniform);
  table.add_column(pair ? "A" : "value", TextTable::Kind::kFigure);
  if (pair) {
    table.add_column("B", TextTable::Kind::kFigure);
    table.add_column("B against A", TextTable::Kind::kFigure);
  }
  const auto add = [&](TextTable::Cell name, auto text, const std::string& change) {
    std::vector<TextTable::Cell> cells = {std::move(name)};
    for (const ModelFigures& model : models) cells.emplace_back(text(model));
    if (pair) cells.emplace_back(change);
    table.add_row(std::move(cells));
  };
  add(
      {"nats per token", "nats/token"},
      [](const ModelFigures& m) { return estimate_text(m.nats, 1, 4, false); },
      pair ? estimate_text(pair->nats, 1, 4, true) : "");
  // For two models, the row "nats per token" implies the perplexities' confidence intervals.
  add(
      {"perplexity", "perplexity"},
      [&](const ModelFigures& m) {
        return pair ? fmt::format("{:.2f}", std::exp(m.nats.value)) : power_text(m.nats, 2);
      },
      pair ? "x " + power_text(pair->nats, 4) : "");
  add(
      {"bits per byte", "bits/byte"},
      [](const ModelFigures& m) { return estimate_text(m.bits, 1, 4, false); },
      pair ? estimate_text(pair->bits, 1, 4, true) : "");
  add(
      {"top-1 accuracy %", "top-1 %"},
      [](const ModelFigures& m) { return estimate_text(m.top, kPercent, 1, false); },
      pair ? estimate_text(pair->top, kPercent, 1, true) : "");
  add(
      {"seconds in the model", "seconds"},
      [](const ModelFigures& m) {
        return fmt::format("{:.3g}", static_cast<double>(m.model_ns) / kSecond);
      },
      "");
  add(
      {"tokens/s", "tokens/s"},
      [&](const ModelFigures& m) { return fmt::format("{:.0f}", tokens_per_second(m, tokens)); },
      "");
  return table.text(options.width, options.color);
}

std::string pair_lines(const Perplexity& result, size_t width) {
  const PairFigures& pair = *result.pair;
  const TokenScore& a = result.scores.a[pair.max_kl_at];
  const TokenScore& b = result.scores.b[pair.max_kl_at];
  const size_t at = result.scores.first + pair.max_kl_at;
  std::string text =
      wrap("",
           {"KL divergence of B from A: mean " + estimate_text(pair.kl, 1, 5, false) + " nats",
            fmt::format("same top token at {} % of positions",
                        estimate_text(pair.same_top, kPercent, 1, false))},
           kDot, width);
  text += wrap_words(
      "",
      fmt::format("largest KL {:.4g} nats at token {}, after {}: the text continues with {}, "
                  "which gets {:.3g} % from A and {:.3g} % from B",
                  result.scores.kl[pair.max_kl_at], at, visible(pair.before), visible(pair.token),
                  kPercent * std::exp(-a.nats), kPercent * std::exp(-b.nats)),
      width);
  return text + wrap_words("",
                           fmt::format("A expects {} with {:.3g} %, B expects {} with {:.3g} %",
                                       visible(pair.top_a), kPercent * std::exp(-a.top_nats),
                                       visible(pair.top_b), kPercent * std::exp(-b.top_nats)),
                           width);
}

std::string interval_note(const Perplexity& result) {
  const size_t blocks = result.models[0].nats.blocks;
  if (blocks == 0) {
    return result.scores.a.size() < kMinBlockValues
               ? fmt::format("fewer than {} tokens: no confidence intervals", kMinBlockValues)
               : "a token has probability 0: no confidence intervals";
  }
  return fmt::format(
      "± and ranges: 95 % confidence for texts like this one, from {} blocks of about {} tokens",
      blocks, result.scores.a.size() / blocks);
}

ordered_json estimate_json(const RatioEstimate& estimate) {
  ordered_json json;
  json["value"] = finite_or_null(estimate.value);
  json["error"] = estimate.error ? finite_or_null(*estimate.error) : ordered_json();
  json["blocks"] = estimate.blocks;
  return json;
}

ordered_json expectation_json(const TokenScore& score, const std::string& top) {
  return {{"probability", std::exp(-score.nats)},
          {"top", top},
          {"top_probability", std::exp(-score.top_nats)}};
}

ordered_json pair_json(const Perplexity& result) {
  const PairFigures& pair = *result.pair;
  ordered_json json;
  json["nats_per_token"] = estimate_json(pair.nats);
  json["perplexity_ratio"] = finite_or_null(std::exp(pair.nats.value));
  json["bits_per_byte"] = estimate_json(pair.bits);
  json["top_1_accuracy"] = estimate_json(pair.top);
  json["kl"] = estimate_json(pair.kl);
  json["same_top_1"] = estimate_json(pair.same_top);
  json["largest_kl"] = {{"kl", finite_or_null(result.scores.kl[pair.max_kl_at])},
                        {"token", result.scores.first + pair.max_kl_at},
                        {"before", pair.before},
                        {"text", pair.token},
                        {"a", expectation_json(result.scores.a[pair.max_kl_at], pair.top_a)},
                        {"b", expectation_json(result.scores.b[pair.max_kl_at], pair.top_b)}};
  return json;
}

}  // namespace

std::string report_perplexity(const Perplexity& result, const inspector::TableOptions& options) {
  const EvaluatedText& scores = result.scores;
  const size_t width = std::max(options.width, inspector::kMinWidth);
  std::vector<std::string> names;
  for (size_t i = 0; i < result.models.size(); ++i) {
    const std::string side = result.pair ? (i == 0 ? "A: " : "B: ") : "";
    names.push_back(side + printable(result.models[i].name));
  }
  std::string text = wrap("", names, kDot, width);
  std::string count = inspector::counted(scores.a.size(), "token") + " scored";
  if (scores.is_stopped) {
    count += fmt::format(" of {} (interrupted)", result.file.ids.size() - scores.first);
  }
  text +=
      wrap("",
           {printable(result.file.name), count, fmt::format("{:.0f} bytes", result.scored_bytes),
            printable(result.tokenizer), inspector::counted(scores.windows, "window"),
            fmt::format("context {}", scores.context), fmt::format("stride {}", scores.stride)},
           kDot, width);
  text += '\n' + figures_table(result, options) + '\n';
  if (result.pair) text += pair_lines(result, width);
  text += wrap_words("", interval_note(result), width);
  std::vector<std::string> notes;
  for (const ModelFigures& model : result.models) {
    if (model.impossible == 0) continue;
    notes.push_back(
        fmt::format("{} gives probability 0 to {} tokens", model.name, model.impossible));
  }
  if (scores.first == 1) {
    notes.push_back("the first token is not scored: nothing precedes it (see --num_bos)");
  }
  if (result.file.is_truncated) {
    notes.push_back(fmt::format("only the first {} tokens of the file were scored (--max_tokens)",
                                result.file.ids.size()));
  }
  return text + inspector::wrap_notes(notes, width);
}

std::string report_perplexity_json(const Perplexity& result) {
  const EvaluatedText& scores = result.scores;
  ordered_json json;
  json["perplexity_version"] = kPerplexityJsonVersion;
  json["tool"] = tool_version();
  json["file"] = {{"name", result.file.name},
                  {"tokens", result.file.ids.size()},
                  {"truncated", result.file.is_truncated},
                  {"notes", result.file.notes}};
  json["tokenizer"] = result.tokenizer;
  json["scored_tokens"] = scores.a.size();
  json["scored_bytes"] = result.scored_bytes;
  json["interrupted"] = scores.is_stopped;
  json["windows"] = {{"count", scores.windows},
                     {"context", scores.context},
                     {"stride", scores.stride},
                     {"begin_tokens", result.prefix}};
  json["models"] = ordered_json::array();
  for (const ModelFigures& model : result.models) {
    ordered_json figures;
    figures["name"] = model.name;
    figures["nats_per_token"] = estimate_json(model.nats);
    figures["perplexity"] = finite_or_null(std::exp(model.nats.value));
    figures["bits_per_byte"] = estimate_json(model.bits);
    figures["top_1_accuracy"] = estimate_json(model.top);
    figures["impossible_tokens"] = model.impossible;
    figures["model_ns"] = model.model_ns;
    figures["tokens_per_second"] = tokens_per_second(model, scores.a.size());
    json["models"].push_back(std::move(figures));
  }
  if (result.pair) json["b_against_a"] = pair_json(result);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string report_perplexity_csv(const Perplexity& result, const Tokenizer& tokenizer) {
  const EvaluatedText& scores = result.scores;
  const std::vector<TokenId>& ids = result.file.ids;
  std::string text = "token,id,text,nats,top";
  if (result.pair) text += ",nats_b,top_b,kl";
  text += '\n';
  for (size_t i = 0; i < scores.a.size(); ++i) {
    const size_t token = scores.first + i;
    text += fmt::format("{},{},{},{},{}", token, ids[token],
                        inspector::csv_cell(printable(text_of(tokenizer, ids, token, token + 1))),
                        scores.a[i].nats, scores.a[i].top);
    if (result.pair) {
      text += fmt::format(",{},{},{}", scores.b[i].nats, scores.b[i].top, scores.kl[i]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace vitrine::tools
