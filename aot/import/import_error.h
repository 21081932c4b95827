#pragma once

#include "aot/graph/aot_error.h"

namespace vitrine::aot {

// Thrown for a .pt2 file that is damaged or uses unsupported features: "model.pt2:
// models/model.json: graph_module.graph.nodes[3].inputs[1].arg.as_tensor.name: value "x" is not
// defined before its use".
class ImportError : public AotError {
 public:
  using AotError::AotError;
};

}  // namespace vitrine::aot
