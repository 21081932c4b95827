// Suggests int8 or int4 weights with dynamic activations for linear layers. A layer with few input
// rows spends most of its time on reading weights.
#include <fmt/format.h>

#include "base/text/number_texts.h"
#include "tools/advise/modeled_gain.h"
#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_weight_quantization(const Context& context) {
  const ModelFacts& facts = context.facts;
  if (!context.can_lower() || facts.is_quantized) return {};
  if (!value_of(context.baseline.lowering, "--quantize").empty()) return {};
  if (facts.linears + facts.convolutions == 0) return {};
  const RowSum rows = sum_rows(context, [](const inspector::ProfileRow& row) {
    const std::string op = op_of(row);
    return op == "linear" || op == "addmm" || op == "mm";
  });
  const RowSum convolutions = sum_rows(
      context, [](const inspector::ProfileRow& row) { return op_of(row).starts_with("conv"); });
  std::string why;
  if (facts.linears != 0) {
    why = fmt::format("{}: {}", inspector::counted(facts.linears, "linear layer"),
                      rows_text(context, rows));
  }
  if (context.cache_bytes != 0 && facts.weight_bytes > context.cache_bytes) {
    why += fmt::format(
        "{}the weights ({}) exceed the last-level cache ({}), so memory bandwidth is the limit",
        why.empty() ? "" : "; ", bytes_text(static_cast<double>(facts.weight_bytes)),
        bytes_text(static_cast<double>(context.cache_bytes)));
  }
  // Size of quantized weights relative to f32. kInt8 also estimates the relative time of an int8
  // convolution: a vector register holds four times as many int8 values.
  constexpr double kInt8 = 0.25;
  constexpr double kInt4 = 4.5 / 32;  // 4 bits, and a 16-bit scale for 32 values
  const auto advice = [&](const char* name, const char* scheme, const char* what,
                          const RowSum& changed, double ratio) {
    Advice made{.name = name,
                .what = what,
                .why = why,
                .rows = rows.numbers,
                .change = Variant{.lowering = {{"--quantize", scheme}}},
                .saved = saved_by_smaller_weights(changed, ratio),
                .method =
                    "upper limit: assumes that the time of these rows is proportional to the bytes "
                    "of their weights",
                .confidence = Confidence::kModeled};
    if (!context.is_delegated()) made.change->lowering.push_back({"--backend", "xnnpack"});
    return made;
  };
  RowSum all_rows = rows;
  all_rows.ns += convolutions.ns;
  all_rows.calls += convolutions.calls;
  std::vector<Advice> all = {advice("int8_dynamic", "int8_dynamic",
                                    "int8 weights and dynamic int8 activations", all_rows, kInt8)};
  if (facts.convolutions != 0) {
    Advice& dynamic = all.back();
    if (!dynamic.why.empty()) dynamic.why += "; ";
    dynamic.why += fmt::format("{}: {}", inspector::counted(facts.convolutions, "convolution"),
                               rows_text(context, convolutions));
    dynamic.rows.insert(dynamic.rows.end(), convolutions.numbers.begin(),
                        convolutions.numbers.end());
  }
  if (facts.linears == 0) return all;
  all.push_back(advice("8da4w", "8da4w:32",
                       "int4 weights in groups of 32, and dynamic int8 activations", rows, kInt4));
  if (facts.embeddings != 0) {
    all.push_back(advice("8da4w_embedding", "8da4w:32,embedding:8",
                         "int4 weights for linear layers, including the head, and int8 embeddings",
                         rows, kInt4));
    all.push_back(advice("8da4w_embedding4", "8da4w:32,embedding:4:32",
                         "int4 weights for linear layers, including the head, and int4 embeddings",
                         rows, kInt4));
  }
  return all;
}

}  // namespace vitrine::tools
