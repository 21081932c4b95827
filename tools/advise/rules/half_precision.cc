// Suggests half precision. For bf16, XNNPACK needs an option. For f16, XNNPACK needs f16
// instructions.
#include <fmt/format.h>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {
namespace {

Advice delegate_bf16(const Context& context) {
  Advice advice{.name = "delegate_bf16",
                .what = "XNNPACK executes bf16 tensors too",
                .why =
                    "the model computes in bf16, which XNNPACK refuses without this option; with "
                    "the option, XNNPACK computes in f32",
                .change = Variant{.lowering = {{"--backend-option", "enable_bf16"}}}};
  if (!value_of(context.baseline.lowering, "--backend").starts_with("xnnpack")) {
    advice.change->lowering.push_back({"--backend", "xnnpack"});
  }
  return advice;
}

Advice convert_to_f16(const Context& context, const RowSum& rows) {
  return {
      .name = "f16",
      .what = "weights and activations in f16",
      .why = fmt::format("this processor computes in f16, and XNNPACK has kernels for it: f16 "
                         "halves the {} of weights; {}",
                         bytes_text(static_cast<double>(context.facts.weight_bytes)),
                         rows_text(context, rows)),
      .rows = rows.numbers,
      .how = "export model.half() with inputs in f16, and check the accuracy",
      .method =
          "f16 halves the bytes; not tried, because no lowering option converts a model to f16"};
}

}  // namespace

std::vector<Advice> advise_half_precision(const Context& context) {
  constexpr double kMinShare = 0.2;
  constexpr uint64_t kMinWeights = 1'000'000;  // smaller weights stay in a cache
  if (!context.can_lower() || context.facts.is_quantized) return {};
  std::vector<Advice> all;
  const bool allows_bf16 =
      value_of(context.baseline.lowering, "--backend-option").find("enable_bf16") !=
      std::string::npos;
  if (context.facts.has_bf16 && !allows_bf16) all.push_back(delegate_bf16(context));
  if (!context.processor_features.has_f16 || context.facts.weight_bytes < kMinWeights ||
      !value_of(context.baseline.lowering, "--quantize").empty()) {
    return all;
  }
  const RowSum rows = sum_rows(context, [](const inspector::ProfileRow& row) {
    return row.where == inspector::Where::kDelegate && row.cost && row.cost->is_float32 &&
           row.cost->flops > 0;
  });
  if (rows.ns >= kMinShare * context.wall_ns()) all.push_back(convert_to_f16(context, rows));
  return all;
}

}  // namespace vitrine::tools
