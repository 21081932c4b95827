#pragma once

#include <cstdint>

#include "vitrine/error.h"

namespace vitrine {

// The latest version of programs and .ptd files. ExecuTorch 0.5 to 1.6 write this version.
inline constexpr uint32_t kMaxFormatVersion = 0;

// `what` is the kind of file for the error message.
inline Error check_version(const char* what, uint32_t version, ErrorCode code) {
  if (version <= kMaxFormatVersion) return Error();
  return Error::make(
      code,
      "version: the %s has version %u, but the latest supported one is %u; export it "
      "with an earlier ExecuTorch, or use a later Vitrine",
      what, version, kMaxFormatVersion);
}

}  // namespace vitrine
