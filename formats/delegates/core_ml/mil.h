// Reads programs in Core ML's model intermediate language (MIL), as a protobuf or as text.
#pragma once

#include <string_view>
#include <vector>

#include "formats/delegates/core_ml/container.h"
#include "formats/delegates/payload_description.h"

namespace vitrine::delegates::core_ml {

// Adds the functions of a model (.mlmodel) to `description`. Small constants become arguments;
// other constants become tensors. Throws a FormatError if the model is damaged.
void read_model(Bytes model, const std::vector<PackedFile>& files, PayloadDescription& description);

// Adds the functions in the text of a compiled model (model.mil).
void read_mil_text(std::string_view text, PayloadDescription& description);

}  // namespace vitrine::delegates::core_ml
