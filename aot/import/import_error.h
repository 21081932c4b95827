#pragma once

#include "aot/graph/aot_error.h"

namespace vitrine::aot {

// A .pt2 file that is damaged, or holds what is not supported: "model.pt2: models/model.json:
// graph_module.graph.nodes[3].inputs[1].arg.as_tensor.name: no value \"x\" comes before it".
class ImportError : public AotError {
 public:
  using AotError::AotError;
};

}  // namespace vitrine::aot
