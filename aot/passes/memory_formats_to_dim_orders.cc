#include <algorithm>
#include <array>

#include "aot/graph/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

struct Replacement {
  std::string_view memory_format;
  std::string_view dim_order;
};
constexpr std::array kReplacements = {
    Replacement{"aten._to_copy.default", "dim_order_ops._to_dim_order_copy.default"},
    Replacement{"aten.clone.default", "dim_order_ops._clone_dim_order.default"},
    Replacement{"aten.empty.memory_format", "dim_order_ops._empty_dim_order.default"},
};

std::vector<int64_t> order_of(const Node& node) {
  const std::vector<uint8_t> order = dim_order_of(*node.tensor());
  return {order.begin(), order.end()};
}

}  // namespace

void memory_formats_to_dim_orders(ExportedProgram& program) {
  for_each_call(*program.graph, [](Node& node) {
    const auto found =
        std::ranges::find(kReplacements, node.target().name(), &Replacement::memory_format);
    if (found == kReplacements.end() || node.tensor() == nullptr) return;
    ArgumentMap kwargs;
    for (const auto& [key, value] : node.kwargs()) {
      if (key != "memory_format") kwargs.emplace_back(key, value);
    }
    kwargs.emplace_back("dim_order", order_of(node));
    node.set_target(Target::of(found->dim_order));
    node.set_kwargs(std::move(kwargs));
  });
}

}  // namespace vitrine::aot
