// Detects processors on which XNNPACK cannot multiply f16 matrices.
#pragma once

#include <string_view>

#include "vitrine/error.h"

namespace vitrine::test {

// True if XNNPACK reported that the processor does not support f16 arithmetic. XNNPACK needs
// ARMv8.2 for this arithmetic on 32-bit ARM, but does not detect ARMv8.2 in qemu.
inline bool lacks_f16_products(const Error& error) {
#if defined(__arm__)
  return std::string_view(error.message()).find("fp16: unsupported hardware") !=
         std::string_view::npos;
#else
  static_cast<void>(error);
  return false;
#endif
}

}  // namespace vitrine::test
