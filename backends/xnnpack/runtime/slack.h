// XNNPACK reads up to XNN_EXTRA_BYTES past a tensor's end: where it may.
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>

#include "vitrine/tensor.h"

namespace vitrine::xnnpack {

static_assert(XNN_EXTRA_BYTES <= kReadableSlack);

// For memory without slack. Reading a little further must stay within the page of the last byte:
// nothing is known of the next.
inline bool can_be_read_past(const void* data, size_t size) {
  constexpr size_t kSmallestPage = 4096;
  if (size == 0) return true;
  const uintptr_t last = reinterpret_cast<uintptr_t>(data) + size - 1;
  return last % kSmallestPage + XNN_EXTRA_BYTES < kSmallestPage;
}

}  // namespace vitrine::xnnpack
