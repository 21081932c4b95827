// Verifies a program: its structure (runtime/platform/table_verifier.h), and every index, offset
// and size in it. docs/trust.md lists what later code may assume.
#pragma once

#include <cstdint>
#include <span>

#include "vitrine/budget.h"
#include "vitrine/error.h"

namespace vitrine {

// `flatbuffer` is the program from the start of the file, 16-byte aligned. `segment_bytes` is the
// size of the segment data in the file. Takes one step for each table and list element. Returns
// InvalidProgram or NotSupported with the location of the fault, or OutOfResources if `steps` is
// used up.
Error verify_program(std::span<const std::byte> flatbuffer, uint64_t segment_bytes, Budget& steps);

}  // namespace vitrine
