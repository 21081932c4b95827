// The default limit on the number of items that loading or reading a file may look at.
#pragma once

#include <cstdint>

namespace vitrine {

// Returns the default number of load steps for files of this size. A step is one item, and a valid
// file has at most one item per byte, counting the payloads of all delegates together.
constexpr uint64_t default_load_steps(uint64_t file_bytes) { return file_bytes * 16 + 1'000'000; }

}  // namespace vitrine
