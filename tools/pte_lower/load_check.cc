#include "tools/pte_lower/load_check.h"

#include <fmt/format.h>

#include "tools/common/session.h"
#include "tools/common/tool_error.h"

namespace vitrine::tools {

std::optional<std::string> check_loading(const std::filesystem::path& program,
                                         const std::vector<std::filesystem::path>& data) {
  Session session({.model = program, .data = data});
  for (size_t i = 0; i < session.program()->num_methods(); ++i) {
    const std::string name(session.program()->method_name(i));
    if (check(session.program()->method_meta(name)).num_delegates() == 0) continue;
    try {
      session.load_method(name);
    } catch (const ToolError& error) {
      if (error.code() == ErrorCode::kOperatorMissing) {
        return fmt::format("could not check if the program loads: {}", error.what());
      }
      throw ToolError(fmt::format(
          "the program does not load: {}; to write it anyway, use --no-load-check", error.what()));
    }
  }
  return std::nullopt;
}

}  // namespace vitrine::tools
