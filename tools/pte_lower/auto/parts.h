// Finds the parts of a model whose precision --quantize auto chooses.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::tools {

// A part of the model that a --keep rule can name.
struct ModelPart {
  // A module with layers or embeddings, or an operator: "features.0", "aten.add.Tensor".
  std::string name;
  bool has_linear = false;
  bool has_embedding = false;
  bool has_other = false;  // convolutions, or the part is an operator
  // True if the rows of all linear layers and embeddings can be divided into groups of 32 values.
  bool has_groups = true;

  bool has_int8() const { return has_linear || has_other; }
};

// Returns the modules with convolutions, linear layers or embeddings in graph order, then the add,
// mul and cat operators. Omits modules inside such modules, and layers of the root module, which no
// rule can name.
std::vector<ModelPart> parts_of(const aot::ExportedProgram& program);

// The schemes to measure: "f16", "int8", "int8_dynamic", "8da4w:32", "embedding:8".
std::vector<std::string> schemes_of(const ModelPart& part);

}  // namespace vitrine::tools
