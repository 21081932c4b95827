// Writes a TraceBuffer as an ETDump (docs/formats/etdump.md): a size-prefixed flatbuffer with the
// identifier "ED00". Host side.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/extension/trace_buffer.h"
#include "vitrine/error.h"

namespace vitrine {

// Returns the bytes of the file, or OutOfResources if the trace needs more than a flatbuffer can
// hold (2 GiB).
//
// Call after the traced runs, never during them: the function allocates memory in proportion to the
// trace, and throws std::bad_alloc if memory runs out. It reads the strings to which the records
// point. Values become debug events that refer to the bytes of ValueBuffer::data(); write those
// bytes to a separate file.
Result<std::vector<uint8_t>> write_etdump(const TraceBuffer& trace);

}  // namespace vitrine
