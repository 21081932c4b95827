// The parts of a model whose precision --quantize auto chooses.
#pragma once

#include <string>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::tools {

// A part of the model that a --keep rule can name.
struct ModelPart {
  std::string name;  // a module with layers, or an operator: "features.0", "aten.add.Tensor"
  bool has_linear = false;
};

// Returns the modules that call convolutions and linear layers, in graph order, and then each
// elementwise operator that becomes int8. A module inside of another part belongs to that part.
// Layers outside of modules have no name, and are left out.
std::vector<ModelPart> parts_of(const aot::ExportedProgram& program);

}  // namespace vitrine::tools
