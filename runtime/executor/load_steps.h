#pragma once

#include <cstdint>

namespace vitrine {

// Default number of load steps for a file of this size. Reading a table or list element takes a
// step. A valid file, including its delegates' payloads, has at most one table or list element per
// byte.
constexpr uint64_t default_load_steps(uint64_t file_bytes) { return file_bytes * 16 + 1'000'000; }

}  // namespace vitrine
