// Finds the parts of a model that a pattern names.
//
// A pattern names modules ("classifier.*", which includes the modules inside), a type of modules
// ("torch.nn.modules.linear.Linear") or an operator ("add", "aten.add.Tensor"). "*" and "?" are
// wildcards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aot/graph/aot_error.h"
#include "aot/graph/exported_program.h"

namespace vitrine::aot {

enum class PartKind : uint8_t { kModule, kModuleType, kOperator };

// Returns the kind of part: modules are tried first, then types of modules, then operators. Empty
// if nothing matches.
std::optional<PartKind> find_part(const ExportedProgram& program, const std::string& pattern);

// Returns the error for a pattern that matches nothing. The text lists the model's modules.
AotError unknown_part(const ExportedProgram& program, const std::string& pattern);

// True if the call is inside a module whose path or type matches the pattern.
bool is_in_module(const Node& node, const std::string& pattern, PartKind kind);
// "add", "add.Tensor" and "aten.add.Tensor" name the same operator.
bool is_named(Target target, const std::string& pattern);
// True if a pass made the node from a call to the operator `pattern`, such as "add_" or "matmul".
bool comes_from(const Node& node, const std::string& pattern);
bool is_in_part(const Node& node, const std::string& pattern, PartKind kind);

}  // namespace vitrine::aot
