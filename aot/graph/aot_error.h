// The base of all exceptions of the ahead-of-time side.
#pragma once

#include "base/host_error.h"

namespace vitrine::aot {

class AotError : public HostError {
 public:
  using HostError::HostError;
};

}  // namespace vitrine::aot
