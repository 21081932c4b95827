// Converts the description of a foreign payload to text.
#pragma once

#include <string>

#include "tools/pte_inspect/description_text.h"

namespace vitrine::tools {

// `payload` is the member "payload" of payload_json(). Every line begins with `indent`.
std::string foreign_payload_text(const Json& payload, const std::string& indent,
                                 const TextOptions& options);

}  // namespace vitrine::tools
