#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vitrine::aot::xnnpack {

// Returns the SHA-256 digest (FIPS 180-4) as 64 lower-case hex digits.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace vitrine::aot::xnnpack
