// The table of operators from backends/xnnpack/runtime/reader/operators.inc.
#pragma once

#include <span>
#include <string_view>

#include "backends/xnnpack/aot/rules.h"
#include "backends/xnnpack/aot/translations.h"

namespace vitrine::aot::xnnpack {

struct Operator {
  std::string_view op;  // "add.Tensor"
  Rule rule;
  Translation translate = nullptr;  // null if a pass or the translator itself handles the operator
  NodeKinds kinds;                  // kinds of nodes that a call may become

  bool is_delegated() const { return rule.precisions != 0; }
};

std::span<const Operator> operators();
// Returns the row of the operator; null if the table does not contain the operator.
const Operator* find_operator(std::string_view op);

}  // namespace vitrine::aot::xnnpack
