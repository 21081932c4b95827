#pragma once

#include "base/host_error.h"

namespace vitrine {

// A damaged or unsupported file.
class FormatError : public HostError {
 public:
  using HostError::HostError;
};

}  // namespace vitrine
