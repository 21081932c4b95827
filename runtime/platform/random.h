// Numbers that nobody can guess.
#pragma once

#include <cstddef>
#include <span>

namespace vitrine::platform {

// From the system, which does not wait for it: early after a machine's start, or on a system that
// has none, they come from the clock and the places of things in memory, and are hard to guess.
void fill_random(std::span<std::byte> out);

}  // namespace vitrine::platform
