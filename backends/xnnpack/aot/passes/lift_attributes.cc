#include "backends/xnnpack/aot/preprocessing.h"

namespace vitrine::aot::xnnpack {

void lift_attributes(Preprocessing& p) {
  Node* next = nullptr;
  for (Node* node = &p.graph().nodes().front(); node != nullptr; node = next) {
    next = node->next();
    if (node->kind() != Node::Kind::kGetAttr) continue;
    const auto found = p.graph().tensors().find(node->attribute());
    if (found == p.graph().tensors().end()) continue;
    Node* constant = p.program().add_constant(node->name(), found->second);
    node->replace_all_uses_with(constant);
    p.graph().erase(node);
  }
}

}  // namespace vitrine::aot::xnnpack
