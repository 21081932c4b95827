// Random bytes that are hard to guess.
#pragma once

#include <cstddef>
#include <span>

namespace vitrine::platform {

// Fills `out` with random bytes from the system, without waiting for it. If the system has no
// random bytes yet, which can happen shortly after boot, the bytes are derived from the clock and
// from memory addresses.
void fill_random(std::span<std::byte> out);

}  // namespace vitrine::platform
