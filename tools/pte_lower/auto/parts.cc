#include "tools/pte_lower/auto/parts.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace vitrine::tools {
namespace {

constexpr std::string_view kLinear = "aten.linear.default";
constexpr std::string_view kEmbedding = "aten.embedding.default";
constexpr int64_t kGroup = 32;  // the smallest group that XNNPACK supports
constexpr std::string_view kElementwise[] = {"aten.add.Tensor", "aten.add_.Tensor",
                                             "aten.mul.Tensor", "aten.mul_.Tensor",
                                             "aten.cat.default"};

bool is_layer(const aot::Node& node) {
  return node.is_call() && node.meta.origin != nullptr &&
         (node.target().name() == kLinear || node.target().name() == kEmbedding ||
          node.target().name().starts_with("aten.conv"));
}

void add_layer(const aot::Node& layer, ModelPart& to) {
  const bool is_linear = layer.target().name() == kLinear;
  const bool is_embedding = layer.target().name() == kEmbedding;
  to.has_linear |= is_linear;
  to.has_embedding |= is_embedding;
  to.has_other |= !is_linear && !is_embedding;
  if (!is_linear && !is_embedding) return;
  const aot::Node* weight = layer.need(is_linear ? 1 : 0).node();
  const aot::TensorSpec* spec = weight == nullptr ? nullptr : weight->tensor();
  to.has_groups &= spec != nullptr && spec->rank() == 2 && spec->sizes[1].is_static() &&
                   spec->sizes[1].value() % kGroup == 0;
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
      add(operators, std::string(node.target().name())).has_other = true;
    }
    if (!is_layer(node)) continue;
    const auto& stack = node.meta.origin->module_stack;
    const auto outermost = std::ranges::find_if(
        stack, [&](const auto& entry) { return modules.contains(entry.path); });
    if (outermost == stack.end()) continue;
    add_layer(node, add(parts, outermost->path));
  }
  parts.insert(parts.end(), operators.begin(), operators.end());
  return parts;
}

std::vector<std::string> schemes_of(const ModelPart& part) {
  std::vector<std::string> schemes;
  schemes.emplace_back("f16");
  if (part.has_int8()) schemes.emplace_back("int8");
  if (part.has_linear) {
    schemes.emplace_back("int8_dynamic");
    schemes.emplace_back(part.has_groups ? "8da4w:32" : "8da4w:0");
  }
  if (part.has_embedding) {
    schemes.emplace_back("embedding:8");
    schemes.emplace_back(part.has_groups ? "embedding:4:32" : "embedding:4");
  }
  return schemes;
}

}  // namespace vitrine::tools
