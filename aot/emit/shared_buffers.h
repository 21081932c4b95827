// Mutable buffers that methods of a program share: memory of their own, with the same places in
// each method.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "aot/emit/emit.h"

namespace vitrine::aot {

struct SharedBuffers {
  std::map<std::string, uint64_t, std::less<>> offsets;  // by qualified name, in bytes
  uint64_t bytes = 0;
};

// Buffers that a method mutates, in the order of methods and inputs, one after another. AotError if
// two methods have one of different shapes or dtypes.
SharedBuffers share_buffers(const Methods& methods, size_t alignment);

// Tells the signature of each method that it mutates what another one does, so that nothing takes
// the buffer for a constant there. Methods in the edge dialect.
void mark_shared_buffers(Methods& methods);

}  // namespace vitrine::aot
