// Base class of all exceptions that the ahead-of-time side throws.
#pragma once

#include "base/host_error.h"

namespace vitrine::aot {

class AotError : public HostError {
 public:
  using HostError::HostError;
};

}  // namespace vitrine::aot
