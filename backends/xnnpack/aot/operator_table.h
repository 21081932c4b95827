#pragma once

#include <span>
#include <string_view>

#include "backends/xnnpack/aot/rules.h"
#include "backends/xnnpack/aot/translations.h"

namespace vitrine::aot::xnnpack {

struct Operator {
  std::string_view op;  // for example "add.Tensor"
  Rule rule;
  Translation translate = nullptr;  // null if a pass or the translator itself handles the operator
  NodeKinds kinds;

  bool is_delegated() const { return rule.precisions != 0; }
};

std::span<const Operator> operators();
// Returns null if the table does not contain the operator.
const Operator* find_operator(std::string_view op);

}  // namespace vitrine::aot::xnnpack
