#include "backends/xnnpack/aot/operator_table.h"

#include <algorithm>

namespace vitrine::aot::xnnpack {
namespace {

// XNNPACK 4ea82e5 asserts these bounds for int8 additions and subtractions
// (src/microparams-init.c). Vitrine's runtime accepts more scales (runtime/reader/scale_checks.cc).
bool adds_scales(float a, float b, float result) {
  const auto is_near = [&](float scale) {
    const float ratio = scale / result;
    return ratio >= 0x1p-10f && ratio < 0x1p8f;
  };
  return is_near(a) && is_near(b);
}

bool multiplies_scales(float a, float b, float result) {
  const float ratio = a * b / result;
  return ratio >= 0x1p-16f && ratio < 0x1p8f;
}

}  // namespace

std::span<const Operator> operators() {
  using enum fb::XNodeUnion;
  constexpr uint8_t kFloatOrStatic = kFloat | kStatic;
#define RULE(...) \
  Rule { __VA_ARGS__ }
#define NOT_DELEGATED \
  Rule { .precisions = 0 }
#define NODES(...) \
  NodeKinds { __VA_ARGS__ }
#define XNN_OPERATOR(op, rule, translation, nodes) Operator{op, rule, translation, nodes},
  static constexpr Operator kOperators[] = {
#include "backends/xnnpack/runtime/reader/operators.inc"
  };
#undef XNN_OPERATOR
#undef NODES
#undef NOT_DELEGATED
#undef RULE
  return kOperators;
}

const Operator* find_operator(std::string_view op) {
  const auto found = std::ranges::find(operators(), op, &Operator::op);
  return found == operators().end() ? nullptr : &*found;
}

}  // namespace vitrine::aot::xnnpack
