#include "tools/common/tool_error.h"

#include <fmt/format.h>

namespace vitrine::tools {

ToolError::ToolError(const Error& error)
    : HostError(fmt::format("{} (0x{:02x}): {}", error_code_name(error.code()),
                            static_cast<uint32_t>(error.code()), error.message())),
      code_(error.code()) {}

}  // namespace vitrine::tools
