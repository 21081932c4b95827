// The exception of tools, and conversions of the runtime's errors.
#pragma once

#include <string>

#include "base/host_error.h"
#include "vitrine/error.h"

namespace vitrine::tools {

class ToolError : public HostError {
 public:
  using HostError::HostError;
  // The message is "InvalidProgram (0x23): execution_plan[0]...".
  explicit ToolError(const Error& error);
  ToolError(const std::string& text, ErrorCode code) : HostError(text), code_(code) {}
  // The code of the runtime's error, or kInternal for other errors.
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_ = ErrorCode::kInternal;
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
