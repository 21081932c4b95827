// Mutable buffers that the methods of a program share. The buffers are in the planned memory with
// id 2, at the same offsets in each method.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "aot/emit/emit.h"

namespace vitrine::aot {

struct SharedBuffers {
  std::map<std::string, uint64_t, std::less<>> offsets;  // keyed by qualified name, in bytes
  uint64_t bytes = 0;
};

// Assigns offsets to all buffers that any method mutates, in the order of the methods and their
// inputs. Throws AotError if buffers of the same name differ in shape, dtype or values.
SharedBuffers share_buffers(const Methods& methods, size_t alignment);

// Marks shared buffers as mutated in all methods, so that passes do not treat the buffers as
// constants. `methods` must be in the edge dialect.
void mark_shared_buffers(Methods& methods);

}  // namespace vitrine::aot
