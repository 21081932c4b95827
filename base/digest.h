// Digests distinguish files, but do not protect against forgery.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vitrine {

// Returns the 64-bit FNV-1a hash of the bytes as "fnv1a64:0123456789abcdef".
std::string digest_of(std::span<const std::byte> bytes);

}  // namespace vitrine
