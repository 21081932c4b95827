#pragma once

#include <cstdint>
#include <vector>

#include "formats/delegates/byte_view.h"
#include "formats/delegates/payload_description.h"

namespace vitrine::delegates::vgf {

// Reads the TOSA operators of a SPIR-V module that uses SPV_ARM_graph, and adds the module's
// tensors to `tensors`. `words` is little-endian. Throws a FormatError if an instruction is
// damaged.
PayloadGraph read_spirv(Bytes words, std::vector<PayloadTensor>& tensors);

}  // namespace vitrine::delegates::vgf
