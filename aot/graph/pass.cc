#include "aot/graph/pass.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"

namespace vitrine::aot {

void run_passes(ExportedProgram& program, std::span<const Pass> passes) {
  for (const Pass& pass : passes) {
    try {
      pass.run(program);
      lint(program);
    } catch (const AotError& error) {
      throw AotError(fmt::format("{}: {}", pass.name, error.what()));
    }
  }
}

void run_at_node(const std::string& node, const std::function<void()>& work) {
  try {
    work();
  } catch (const AotError& error) {
    if (std::string_view(error.what()).find(fmt::format("node {}", node)) != std::string::npos) {
      throw;
    }
    throw AotError(fmt::format("node {}: {}", node, error.what()));
  } catch (const std::out_of_range&) {
    // The pass read a dim or item that does not exist, so at() threw std::out_of_range.
    throw AotError(fmt::format("node {}: an argument has too few dims or items", node));
  }
}

Target clone_target() {
  return Target::of("dim_order_ops._clone_dim_order.default", Dialect::kEdge);
}

Node* insert_like(Node& at, Target target, ArgumentList args, ArgumentMap kwargs, Value value) {
  Node* node = at.graph().call(target, std::move(args), std::move(kwargs), &at);
  node->meta = at.meta;
  node->meta.value = std::move(value);
  return node;
}

void replace_node(ExportedProgram& program, Node& node, Node& other) {
  if (&node.graph() == program.graph.get()) {
    for (OutputSpec& output : program.signature.outputs) {
      if (output.name == node.name()) output.name = other.name();
    }
  }
  node.replace_all_uses_with(&other);
  node.graph().erase(&node);
}

}  // namespace vitrine::aot
