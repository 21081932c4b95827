// Defines the default limit on the work of loading or reading a file.
#pragma once

#include <cstdint>

namespace vitrine {

// Returns the default number of load steps for files of this size. Reading one table or one list
// element takes one step. A valid file, including the payloads of all delegates, has at most one
// table or list element per byte.
constexpr uint64_t default_load_steps(uint64_t file_bytes) { return file_bytes * 16 + 1'000'000; }

}  // namespace vitrine
