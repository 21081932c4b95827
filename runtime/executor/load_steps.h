// How much work a file may ask for when it is loaded or read.
#pragma once

#include <cstdint>

namespace vitrine {

// In items, of which a sound file has at most one a byte; for all of its methods' delegates
// together.
constexpr uint64_t default_load_steps(uint64_t file_bytes) { return file_bytes * 16 + 1'000'000; }

}  // namespace vitrine
