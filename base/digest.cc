#include "base/digest.h"

#include <fmt/format.h>

#include <cstdint>

namespace vitrine {

std::string digest_of(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<uint64_t>(byte)) * 0x100000001b3;
  }
  return fmt::format("fnv1a64:{:016x}", hash);
}

}  // namespace vitrine
