// Random bytes that are hard to guess.
#pragma once

#include <cstddef>
#include <span>

namespace vitrine::platform {

// Fills `out` with random bytes from the system. Shortly after boot, the system may not have any
// random bytes yet. The function then does not wait, but derives the bytes from the clock and from
// memory addresses.
void fill_random(std::span<std::byte> out);

}  // namespace vitrine::platform
