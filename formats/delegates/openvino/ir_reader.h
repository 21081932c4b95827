#pragma once

#include <string_view>

#include "formats/delegates/payload_description.h"

namespace vitrine::delegates::openvino {

// Adds the layers of an OpenVINO graph to `description`. `constant_bytes` is the size of the region
// of constants. Throws a FormatError if the XML is damaged, nests elements more than 32 levels
// deep, declares a document type, or uses other entities than the five predefined entities of XML.
void read_ir(std::string_view xml, uint64_t constant_bytes, PayloadDescription& description);

}  // namespace vitrine::delegates::openvino
