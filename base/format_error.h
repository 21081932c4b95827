#pragma once

#include "base/host_error.h"

namespace vitrine {

// A file that is damaged, or holds what is not supported.
class FormatError : public HostError {
 public:
  using HostError::HostError;
};

}  // namespace vitrine
