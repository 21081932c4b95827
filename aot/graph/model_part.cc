#include "aot/graph/model_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace vitrine::aot {
namespace {

bool matches_pattern(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (size_t skip = 0; skip <= text.size(); ++skip) {
      if (matches_pattern(pattern.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  if (text.empty() || (pattern.front() != '?' && pattern.front() != text.front())) return false;
  return matches_pattern(pattern.substr(1), text.substr(1));
}

// The operator aten.add.Tensor matches "aten.add.Tensor", "add.Tensor" and "add".
bool is_operator(std::string_view name, std::string_view pattern) {
  if (matches_pattern(pattern, name)) return true;
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view rest = name.substr(dot + 1);
  return matches_pattern(pattern, rest) || matches_pattern(pattern, rest.substr(0, rest.find('.')));
}

}  // namespace

bool is_in_module(const Node& node, const std::string& pattern, PartKind kind) {
  if (!node.is_call() || node.meta.origin == nullptr) return false;
  return std::ranges::any_of(node.meta.origin->module_stack, [&](const ModuleStackEntry& entry) {
    return matches_pattern(pattern, kind == PartKind::kModule ? entry.path : entry.type_name);
  });
}

bool is_named(Target target, const std::string& pattern) {
  return is_operator(target.name(), pattern);
}

bool comes_from(const Node& node, const std::string& pattern) {
  return node.meta.origin != nullptr &&
         std::ranges::any_of(node.meta.origin->from_node, [&](const auto& source) {
           return is_operator(source.target, pattern);
         });
}

bool is_in_part(const Node& node, const std::string& pattern, PartKind kind) {
  if (kind != PartKind::kOperator) return is_in_module(node, pattern, kind);
  return node.is_call() && is_named(node.target(), pattern);
}

std::optional<PartKind> find_part(const ExportedProgram& program, const std::string& pattern) {
  for (const PartKind kind : {PartKind::kModule, PartKind::kModuleType}) {
    for (const Node& node : program.graph->nodes()) {
      if (is_in_module(node, pattern, kind)) return kind;
    }
  }
  for (const Node& node : program.graph->nodes()) {
    if (node.is_call() && node.target().dialect() == Dialect::kAten &&
        is_named(node.target(), pattern)) {
      return PartKind::kOperator;
    }
  }
  return std::nullopt;
}

AotError unknown_part(const ExportedProgram& program, const std::string& pattern) {
  std::set<std::string> modules;
  for (const Node& node : program.graph->nodes()) {
    if (!node.is_call() || node.meta.origin == nullptr) continue;
    for (const ModuleStackEntry& entry : node.meta.origin->module_stack) {
      if (!entry.path.empty()) modules.insert(entry.path);
    }
  }
  std::string known;
  for (const std::string& module : modules) {
    if (known.size() > 400) {
      known += " ...";
      break;
    }
    known += (known.empty() ? "" : ", ") + module;
  }
  return AotError(fmt::format("\"{}\" matches no module, module type or operator of the model{}",
                              pattern, known.empty() ? "" : "; its modules are " + known));
}

}  // namespace vitrine::aot
