// Converts descriptions of payloads to text, for backends that Vitrine does not run.
#pragma once

#include <string>

#include "tools/pte_inspect/description_text.h"

namespace vitrine::tools {

// Lines begin with `indent`. `payload` is the member "payload" of payload_json().
std::string foreign_payload_text(const Json& payload, const std::string& indent,
                                 const TextOptions& options);

}  // namespace vitrine::tools
