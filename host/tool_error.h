// The exception for tools, and the conversion of device-side errors to it.
#pragma once

#include "base/host_error.h"
#include "vitrine/error.h"

namespace vitrine::tools {

class ToolError : public HostError {
 public:
  using HostError::HostError;
  // "InvalidProgram (0x23): execution_plan[0]..."
  explicit ToolError(const Error& error);
};

inline void check(const Error& error) {
  if (!error.ok()) throw ToolError(error);
}

template <class T>
T check(Result<T> result) {
  if (!result.ok()) throw ToolError(result.error());
  return std::move(*result);
}

}  // namespace vitrine::tools
