#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>

#include "vitrine/tensor.h"

namespace vitrine::xnnpack {

static_assert(XNN_EXTRA_BYTES <= kReadableSlack);

// Returns true if XNNPACK can read XNN_EXTRA_BYTES past the end of the data. These bytes must be in
// the memory page of the last byte, because the next page may be unmapped.
inline bool can_be_read_past(const void* data, size_t size) {
  constexpr size_t kSmallestPage = 4096;
  if (size == 0) return true;
  const uintptr_t last = reinterpret_cast<uintptr_t>(data) + size - 1;
  return last % kSmallestPage + XNN_EXTRA_BYTES < kSmallestPage;
}

}  // namespace vitrine::xnnpack
