// The default limit on the work that loading or reading a file may take.
#pragma once

#include <cstdint>

namespace vitrine {

// Returns a number of items. A valid file has at most one item per byte, counting the payloads of
// all delegates together.
constexpr uint64_t default_load_steps(uint64_t file_bytes) { return file_bytes * 16 + 1'000'000; }

}  // namespace vitrine
