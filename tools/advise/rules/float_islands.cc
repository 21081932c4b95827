// Finds float operators in an int8 model. Conversions before and after these operators can cost
// more than int8 saves.
#include <fmt/format.h>

#include <map>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {
namespace {

// Conversions for dynamic activations (QD8) are part of a quantized layer.
bool is_conversion(const inspector::ProfileRow& row) {
  const std::string op = op_of(row);
  return (op.find("quantize") != std::string::npos || op == "Convert") &&
         row.kernel.find("QD8") == std::string::npos;
}

// Returns the time of each float operator that runs in a kernel.
std::map<std::string, double> float_ops(const Context& context) {
  std::map<std::string, double> ops;
  for (const inspector::ProfileRow& row : context.profile.rows) {
    const std::string op = op_of(row);
    if (row.where == inspector::Where::kKernel && !op.empty() && !is_conversion(row)) {
      ops[op] += time_of(context, row);
    }
  }
  return ops;
}

}  // namespace

std::vector<Advice> advise_float_islands(const Context& context) {
  constexpr double kMinShare = 0.05;
  constexpr double kMinOpShare = 0.01;
  if (!context.facts.is_quantized && value_of(context.baseline.lowering, "--quantize").empty()) {
    return {};
  }
  const RowSum rows = sum_rows(context, is_conversion);
  if (rows.ns < kMinShare * context.wall_ns()) return {};
  std::string ops;
  for (const auto& [op, ns] : float_ops(context)) {
    if (ns >= kMinOpShare * context.wall_ns()) ops += (ops.empty() ? "" : ", ") + op;
  }
  return {{.name = "float_islands",
           .what = "fewer conversions between int8 and float",
           .why = "conversions: " + rows_text(context, rows) +
                  (ops.empty() ? "" : "; float operators outside delegates: " + ops),
           .rows = rows.numbers,
           .how = "quantize the float operators between int8 layers too, or keep their neighbors "
                  "in float (vitrine lower --keep PART=float)",
           .saved = Interval{0, rows.ns},
           .method = "upper limit: the time of the conversions",
           .confidence = Confidence::kModeled}};
}

}  // namespace vitrine::tools
