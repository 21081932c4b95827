#pragma once

#include <cstddef>
#include <span>

namespace vitrine::platform {

// Fills `out` with bytes that are hard to guess. Shortly after boot, the system may not have random
// bytes yet. This function does not wait: it then derives the bytes from the clock and from memory
// addresses.
void fill_random(std::span<std::byte> out);

}  // namespace vitrine::platform
