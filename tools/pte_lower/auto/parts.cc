#include "tools/pte_lower/auto/parts.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace vitrine::tools {
namespace {

constexpr std::string_view kLinear = "aten.linear.default";
constexpr std::string_view kElementwise[] = {"aten.add.Tensor", "aten.add_.Tensor",
                                             "aten.mul.Tensor", "aten.mul_.Tensor",
                                             "aten.cat.default"};

bool is_layer(const aot::Node& node) {
  return node.is_call() && node.meta.origin != nullptr &&
         (node.target().name() == kLinear || node.target().name().starts_with("aten.conv"));
}

}  // namespace

std::vector<ModelPart> parts_of(const aot::ExportedProgram& program) {
  std::set<std::string> modules;
  for (const aot::Node& node : program.graph->nodes()) {
    if (is_layer(node) && !node.meta.origin->module_stack.empty()) {
      modules.insert(node.meta.origin->module_stack.back().path);
    }
  }
  modules.erase("");  // no rule can name the root
  std::vector<ModelPart> parts;
  std::vector<ModelPart> operators;
  const auto add = [](std::vector<ModelPart>& to, const std::string& name) -> ModelPart& {
    const auto found = std::ranges::find(to, name, &ModelPart::name);
    return found != to.end() ? *found : to.emplace_back(ModelPart{.name = name});
  };
  for (const aot::Node& node : program.graph->nodes()) {
    if (!node.is_call()) continue;
    if (std::ranges::find(kElementwise, node.target().name()) != std::end(kElementwise)) {
      add(operators, std::string(node.target().name()));
    }
    if (!is_layer(node)) continue;
    const auto& stack = node.meta.origin->module_stack;
    const auto outermost = std::ranges::find_if(
        stack, [&](const auto& entry) { return modules.contains(entry.path); });
    if (outermost == stack.end()) continue;
    add(parts, outermost->path).has_linear |= node.target().name() == kLinear;
  }
  parts.insert(parts.end(), operators.begin(), operators.end());
  return parts;
}

}  // namespace vitrine::tools
