#include "aot/pipeline/declared_operators.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <stdexcept>

#include "aot/graph/aot_error.h"
#include "aot/graph/pass.h"

namespace vitrine::aot {

const Operator* parse_operator(std::string_view signature) try {
  const Operator& op = declared_operator(signature);
  if (find_operator(op.target) != nullptr) {
    throw std::invalid_argument(fmt::format("{} is already in the operator table", op.name));
  }
  return &op;
} catch (const std::invalid_argument& error) {
  throw AotError(fmt::format("--operator: {}", error.what()));
}

void declare(const std::vector<const Operator*>& operators, Methods& methods) {
  std::map<std::string_view, const Operator*> by_target;
  for (const Operator* op : operators) {
    if (!by_target.emplace(op->target, op).second) {
      throw AotError(fmt::format("--operator: {} is declared twice", op->name));
    }
  }
  std::set<std::string_view> called;
  const auto declared = [&](Target target) {
    const auto found = by_target.find(target.name());
    if (found == by_target.end()) return target;
    called.insert(found->first);
    return Target::of(*found->second, target.dialect());
  };
  for (auto& [name, program] : methods) {
    for_each_call(*program.graph, [&](Node& node) {
      node.set_target(declared(node.target()));
      // auto_functionalized_v2(my.op, ...) takes the custom operator as an argument.
      for (size_t i = 0; i < node.args().size(); ++i) {
        if (const auto* target = node.args()[i].get<Target>()) node.set_arg(i, declared(*target));
      }
    });
  }
  for (const auto& [target, op] : by_target) {
    if (called.contains(target)) continue;
    throw AotError(fmt::format("--operator: the model does not call {}", op->name));
  }
}

}  // namespace vitrine::aot
