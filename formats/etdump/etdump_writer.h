// TraceBuffer -> ETDump (docs/formats/etdump.md): size-prefixed flatbuffer, identifier "ED00".
//
// Call it after the traced runs, never inside them, since it allocates, in containers that the
// trace sizes: std::bad_alloc where memory runs out. Reads the strings that the records point to.
// Values in the trace become debug events that refer to the bytes of ValueBuffer::data(); write
// those to a separate file. Host side.
#pragma once

#include "flatbuffers/detached_buffer.h"
#include "formats/etdump/trace_buffer.h"
#include "vitrine/error.h"

namespace vitrine {

// The bytes of the file: data(), size(). OutOfResources if the trace needs more than a flatbuffer
// can hold (2 GiB).
Result<flatbuffers::DetachedBuffer> write_etdump(const TraceBuffer& trace);

}  // namespace vitrine
