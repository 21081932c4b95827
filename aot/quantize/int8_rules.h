// The parts of a model that rules name.
#pragma once

#include "aot/quantize/annotations.h"

namespace vitrine::aot {

enum class RuleKind : uint8_t { kModule, kModuleType, kOperator };

// Modules are tried first, then types, then operators. Throws AotError if the rule matches nothing.
RuleKind kind_of_rule(const ExportedProgram& program, const Int8Rule& rule);

// True if the call is inside a module whose path or type matches the pattern.
bool is_in_module(const Node& node, const std::string& pattern, RuleKind kind);
// "add", "add.Tensor" and "aten.add.Tensor" name the same operator.
bool is_named(Target target, const std::string& pattern);

}  // namespace vitrine::aot
