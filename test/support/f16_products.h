// Where XNNPACK cannot multiply matrices of f16.
#pragma once

#include <string_view>

#include "vitrine/error.h"

namespace vitrine::test {

// On 32-bit ARM it needs a processor that computes with f16 (ARMv8.2), which qemu does not show it.
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
