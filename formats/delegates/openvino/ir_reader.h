// Reads the XML of an OpenVINO graph.
#pragma once

#include <string_view>

#include "formats/delegates/payload_description.h"

namespace vitrine::delegates::openvino {

// Adds the layers of the graph to `description`. `constant_bytes` is the size of the region of
// constants. Throws a FormatError if the XML is damaged, nests more than 32 deep, declares a
// document type, or uses an entity that XML does not predefine.
void read_ir(std::string_view xml, uint64_t constant_bytes, PayloadDescription& description);

}  // namespace vitrine::delegates::openvino
