// Verification of the program format: structure (runtime/data/table_verifier.h) and meaning (every
// index, offset and size). See docs/trust.md for what later code may assume.
#pragma once

#include <cstdint>
#include <span>

#include "vitrine/budget.h"
#include "vitrine/error.h"

namespace vitrine {

// `flatbuffer`: the program from the start of the file, 16-byte aligned; `segment_bytes`: bytes of
// segment data that the file holds; `steps`: what the work is taken from, one a table and one an
// item of a list. InvalidProgram or NotSupported, with the place; OutOfResources beyond the steps.
Error verify_program(std::span<const std::byte> flatbuffer, uint64_t segment_bytes, Budget& steps);

}  // namespace vitrine
