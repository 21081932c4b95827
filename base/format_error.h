#pragma once

#include "base/host_error.h"

namespace vitrine {

// Thrown for a damaged or unsupported file.
class FormatError : public HostError {
 public:
  using HostError::HostError;
};

}  // namespace vitrine
