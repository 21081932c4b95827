#include "tools/llm_runner/perplexity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "tools/common/interrupt.h"
#include "tools/common/messages.h"
#include "tools/common/progress.h"
#include "tools/common/tool_error.h"
#include "tools/llm_runner/loaded_decoder.h"

namespace vitrine::tools {
namespace {

constexpr size_t kTokensBefore = 12;  // tokens of text to show before the largest divergence

// A model's figures, one element per scored token.
struct TokenValues {
  std::vector<double> nats, bits, top;
};

TokenValues values_of(std::span<const TokenScore> scores, std::span<const TokenId> text) {
  TokenValues values;
  for (size_t i = 0; i < scores.size(); ++i) {
    values.nats.push_back(scores[i].nats);
    values.bits.push_back(scores[i].nats / std::numbers::ln2);
    values.top.push_back(scores[i].top == text[i] ? 1 : 0);
  }
  return values;
}

std::vector<double> difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result(a.size());
  std::ranges::transform(b, a, result.begin(), std::minus<>());
  return result;
}

PairFigures compare(const Perplexity& result, const TokenValues& a, const TokenValues& b,
                    std::span<const double> bytes, const Tokenizer& tokenizer) {
  const EvaluatedText& scores = result.scores;
  PairFigures pair;
  pair.nats = estimate_ratio(difference(a.nats, b.nats));
  pair.bits = estimate_ratio(difference(a.bits, b.bits), bytes);
  pair.top = estimate_ratio(difference(a.top, b.top));
  pair.kl = estimate_ratio(scores.kl);
  std::vector<double> same;
  for (size_t i = 0; i < scores.a.size(); ++i) {
    same.push_back(scores.a[i].top == scores.b[i].top ? 1 : 0);
  }
  pair.same_top = estimate_ratio(same);
  pair.max_kl_at = static_cast<size_t>(std::ranges::max_element(scores.kl) - scores.kl.begin());
  const std::span<const TokenId> ids = result.file.ids;
  const size_t at = scores.first + pair.max_kl_at;
  pair.before = text_of(tokenizer, ids, at - std::min(at, kTokensBefore), at);
  pair.token = text_of(tokenizer, ids, at, at + 1);
  const auto text = [&](TokenId id) {
    return tokenizer.decode({&id, 1}, {.skip_special = false, .continues = true});
  };
  pair.top_a = text(scores.a[pair.max_kl_at].top);
  pair.top_b = text(scores.b[pair.max_kl_at].top);
  return pair;
}

std::vector<TokenId> begin_tokens(const LlmOptions& options, const Tokenizer& tokenizer) {
  const size_t count = options.generate.encode.num_bos;
  if (count == 0) return {};
  if (!tokenizer.bos()) throw ToolError("--num_bos: the tokenizer has no begin token");
  return std::vector<TokenId>(count, *tokenizer.bos());
}

void load(LoadedDecoder& model, const LlmOptions& options, const Tokenizer& tokenizer) {
  model.load(options, &tokenizer);
  const TextGenerator checks(model.decoder(), &tokenizer);  // the tokenizer must fit the model
}

std::string report(const Perplexity& result, const Tokenizer& tokenizer,
                   const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kJson:
      return report_perplexity_json(result);
    case ReportFormat::kCsv:
      return report_perplexity_csv(result, tokenizer);
    default:
      return report_perplexity(result, table_options(options));
  }
}

}  // namespace

Perplexity summarize(EvaluatedFile file, EvaluatedText scores, const Tokenizer& tokenizer,
                     const std::vector<std::string>& models) {
  Perplexity result{.file = std::move(file),
                    .scores = std::move(scores),
                    .scored_bytes = 0,
                    .prefix = 0,
                    .tokenizer = tokenizer.form(),
                    .models = {},
                    .pair = {}};
  const EvaluatedText& scored = result.scores;
  const std::span<const TokenId> text = std::span(result.file.ids).subspan(scored.first);
  const auto bytes = std::span(result.file.token_bytes).subspan(scored.first, scored.a.size());
  result.scored_bytes = std::accumulate(bytes.begin(), bytes.end(), 0.0);
  std::vector<TokenValues> values;
  for (size_t i = 0; i < models.size(); ++i) {
    const std::vector<TokenScore>& of_model = i == 0 ? scored.a : scored.b;
    const TokenValues& all = values.emplace_back(values_of(of_model, text));
    const auto impossible =
        std::ranges::count_if(all.nats, [](double nats) { return std::isinf(nats); });
    result.models.push_back({.name = models[i],
                             .nats = estimate_ratio(all.nats),
                             .bits = estimate_ratio(all.bits, bytes),
                             .top = estimate_ratio(all.top),
                             .impossible = static_cast<size_t>(impossible),
                             .model_ns = i == 0 ? scored.a_ns : scored.b_ns});
  }
  if (models.size() == 2) result.pair = compare(result, values[0], values[1], bytes, tokenizer);
  return result;
}

int run_perplexity(const LlmOptions& options) {
  const SessionOptions session = session_options(options);
  LoadedDecoder a(session);
  const std::unique_ptr<Tokenizer> tokenizer = find_tokenizer(options);
  EvaluationOptions evaluation;
  evaluation.prefix = begin_tokens(options, *tokenizer);
  evaluation.stride = options.stride;
  EvaluatedFile file = read_evaluated_file(options.perplexity, *tokenizer, options.max_tokens);
  load(a, options, *tokenizer);
  std::vector<std::string> names = {options.model.filename().string()};
  std::optional<LoadedDecoder> b;
  if (!options.compare.empty()) {
    const auto [name_a, name_b] = short_names(options.model, options.compare[0]);
    names = {name_a, name_b};
    SessionOptions other = session;
    other.model = options.compare[0];
    other.pool = a.session().pool();
    load(b.emplace(other), options, *tokenizer);
  }
  stop_on_interrupt();
  EvaluatedText scores;
  {
    Progress progress("scoring");
    scores = evaluate_text(a.decoder(), b ? &b->decoder() : nullptr, file.ids, evaluation,
                           [&](size_t done, size_t all) {
                             progress.update(done, all);
                             return !stop_flag();
                           });
  }
  if (scores.is_stopped) {
    print_note(fmt::format("interrupted: the figures cover only the first {} of {} tokens",
                           scores.a.size(), file.ids.size() - scores.first));
  }
  for (const std::string& note : file.notes) print_note(note);
  Perplexity result = summarize(std::move(file), std::move(scores), *tokenizer, names);
  result.prefix = evaluation.prefix.size();
  write_report(report(result, *tokenizer, options.report), options.report);
  return 0;
}

}  // namespace vitrine::tools
