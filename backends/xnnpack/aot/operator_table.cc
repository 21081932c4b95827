#include "backends/xnnpack/aot/operator_table.h"

#include <algorithm>

#include "backends/xnnpack/aot/scales.h"

namespace vitrine::aot::xnnpack {

std::span<const Operator> operators() {
  using enum fb::XNodeUnion;
  using vitrine::xnnpack::adds_scales;
  using vitrine::xnnpack::multiplies_scales;
  constexpr uint8_t kFloatOrStatic = kFloat | kStatic;
#define RULE(...) \
  Rule { __VA_ARGS__ }
#define NOT_TAKEN \
  Rule { .precisions = 0 }
#define NODES(...) \
  NodeKinds { __VA_ARGS__ }
#define XNN_OPERATOR(op, rule, translation, nodes) Operator{op, rule, translation, nodes},
  static constexpr Operator kOperators[] = {
#include "backends/xnnpack/format/operators.inc"
  };
#undef XNN_OPERATOR
#undef NODES
#undef NOT_TAKEN
#undef RULE
  return kOperators;
}

const Operator* find_operator(std::string_view op) {
  const auto found = std::ranges::find(operators(), op, &Operator::op);
  return found == operators().end() ? nullptr : &*found;
}

}  // namespace vitrine::aot::xnnpack
