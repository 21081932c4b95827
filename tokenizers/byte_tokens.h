// Reads and writes bytes as byte tokens ("<0x0A>") or base64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vitrine {

std::string byte_token(uint8_t byte);
// Returns the byte of a byte token, or nullopt for other tokens.
std::optional<uint8_t> byte_of_token(std::string_view token);
// Decodes base64. Returns nullopt if the text is not base64 with padding.
std::optional<std::string> base64_bytes(std::string_view text);

}  // namespace vitrine
