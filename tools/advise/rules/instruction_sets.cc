// Finds instructions that this processor lacks and that speed up XNNPACK. Times differ on a device
// that has these instructions.
#include <fmt/format.h>

#include "tools/advise/rows.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {
namespace {

using Family = ProcessorFeatures::Family;

Advice missing(const char* name, const char* what, const std::string& why, const RowSum& rows) {
  return {.name = name,
          .what = what,
          .why = why,
          .rows = rows.numbers,
          .how = "no option changes this; if your target has these instructions, measure on it",
          .method = "the instructions of this processor, and the kernels that XNNPACK has"};
}

bool is_int8(const inspector::ProfileRow& row) {
  return row.kernel.find("QS8") != std::string::npos ||
         row.kernel.find("QU8") != std::string::npos ||
         row.kernel.find("QD8") != std::string::npos || row.kernel.find("QC8") != std::string::npos;
}

bool is_product(const inspector::ProfileRow& row) {
  const std::string op = op_of(row);
  return op.starts_with("conv") || op == "linear" || op == "addmm" || op == "mm" || op == "bmm";
}

}  // namespace

std::vector<Advice> advise_instruction_sets(const Context& context) {
  constexpr double kMinShare = 0.2;
  const ProcessorFeatures& features = context.processor_features;
  const auto products = [&](bool wants_int8) {
    return sum_rows(context, [&](const inspector::ProfileRow& row) {
      return row.where == inspector::Where::kDelegate && is_product(row) &&
             is_int8(row) == wants_int8;
    });
  };
  std::vector<Advice> all;
  const RowSum int8 = products(true);
  if (int8.ns >= kMinShare * context.wall_ns() && !features.has_int8_products) {
    if (features.family == Family::kX86) {
      all.push_back(missing("no_vnni", "int8 products without VNNI",
                            rows_text(context, int8) +
                                "; without AVX512-VNNI or AVX-VNNI, XNNPACK widens int8 to 16 bits "
                                "before it multiplies; with VNNI, one instruction computes "
                                "and adds four products for each 32-bit sum",
                            int8));
    } else if (features.family == Family::kArm) {
      all.push_back(missing("no_dotprod", "int8 products without the dotprod extension",
                            rows_text(context, int8) +
                                "; XNNPACK uses NEON instructions that widen int8 to 16 bits; "
                                "with dotprod, one instruction computes and adds four products "
                                "for each 32-bit sum",
                            int8));
    }
  }
  const RowSum floats = products(false);
  if (floats.ns >= kMinShare * context.wall_ns() && features.family == Family::kX86 &&
      !features.has_avx512) {
    all.push_back(missing("no_avx512", "float products without AVX-512",
                          rows_text(context, floats) +
                              "; XNNPACK uses kernels for AVX2 and FMA with vectors of 8 "
                              "floats; kernels for AVX-512 have vectors of 16 floats",
                          floats));
  }
  return all;
}

}  // namespace vitrine::tools
