// Bytes as tokens write them: "<0x0A>" and base64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vitrine {

// "<0x0A>"
std::string byte_token(uint8_t byte);
// The byte that a token of this form stands for.
std::optional<uint8_t> byte_of_token(std::string_view token);
// Nothing if it is not base64, padded.
std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace vitrine
