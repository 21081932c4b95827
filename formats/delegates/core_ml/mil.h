// Programs in Core ML's model intermediate language: as a protobuf and as text.
#pragma once

#include <string_view>
#include <vector>

#include "formats/delegates/core_ml/container.h"
#include "formats/delegates/payload_description.h"

namespace vitrine::delegates::core_ml {

// Adds the functions of a model (.mlmodel) to `description`. Constants that are small are printed
// as arguments; others become tensors. Throws a FormatError if the model is damaged.
void read_model(Bytes model, const std::vector<PackedFile>& files, PayloadDescription& description);

// Adds the functions of a compiled model's text (model.mil).
void read_mil_text(std::string_view text, PayloadDescription& description);

}  // namespace vitrine::delegates::core_ml
