// The operators of XNNPACK, from backends/xnnpack/format/operators.inc.
#pragma once

#include <span>
#include <string_view>

#include "backends/xnnpack/aot/rules.h"
#include "backends/xnnpack/aot/translations.h"

namespace vitrine::aot::xnnpack {

struct Operator {
  std::string_view op;  // "add.Tensor"
  Rule rule;
  Translation translate = nullptr;  // null: passes replace it, or the translator sees to it
  NodeKinds kinds;                  // that it may become

  bool is_taken() const { return rule.precisions != 0; }
};

std::span<const Operator> operators();
// Null if there is none of that name.
const Operator* find_operator(std::string_view op);

}  // namespace vitrine::aot::xnnpack
