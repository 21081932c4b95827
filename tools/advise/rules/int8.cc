// Suggests static int8. int8 needs a quarter of f32's bytes. Processors with VNNI or dot products
// compute int8 several times as fast. Scales of activations come from calibration data: with random
// data, times are right but outputs are wrong.
#include <fmt/format.h>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {

std::vector<Advice> advise_int8(const Context& context) {
  const ModelFacts& facts = context.facts;
  if (!context.can_lower() || facts.is_quantized || facts.written_buffers != 0) return {};
  if (!value_of(context.baseline.lowering, "--quantize").empty()) return {};
  if (facts.linears + facts.convolutions == 0) return {};
  const RowSum rows = sum_rows(context, [](const inspector::ProfileRow& row) {
    const std::string op = op_of(row);
    return op.starts_with("conv") || op == "linear" || op == "addmm" || op == "mm" || op == "bmm";
  });
  Advice advice{.name = "int8",
                .what = "static int8",
                .why = fmt::format("{} linear layers and convolutions: {}",
                                   facts.linears + facts.convolutions, rows_text(context, rows)),
                .rows = rows.numbers,
                .change = Variant{.lowering = {{"--quantize", "int8"}}}};
  for (const std::string& path : context.calibrate) {
    advice.change->lowering.push_back({"--calibrate", path});
  }
  if (!context.is_delegated()) advice.change->lowering.push_back({"--backend", "xnnpack"});
  if (context.calibrate.empty()) {
    advice.needs =
        "calibration data: --calibrate FOLDER with typical inputs; then check the accuracy";
  }
  return {advice};
}

}  // namespace vitrine::tools
