// Delegates of backends that this build does not have.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/delegates/delegate_reader.h"
#include "schema/program_generated.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Returns the input of the reader: the payload and the options of a delegate. Valid as long as the
// program.
delegates::PayloadInput payload_input(const schema::program::BackendDelegate& delegate,
                                      std::span<const std::byte> payload);

// Returns a line for each delegate of the method whose backend is missing: "delegate 0:
// VulkanBackend: Vulkan graph, 8 operators (aten.linear.default, ...), 6 constants: 6376 bytes".
// `external` may be null.
std::vector<std::string> missing_delegates(const Program& program, std::string_view method,
                                           const NamedDataMap* external);

}  // namespace vitrine::tools
