#include "runtime/core/error.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace vitrine {
namespace {

// Long enough to name every operator that a large program lacks; bounded, since names in a file
// are not.
constexpr size_t kMaxMessage = 16000;

// The formatted text, then ": " and `rest` unless that is null; cut at kMaxMessage.
std::unique_ptr<char[]> format_text(const char* format, va_list arguments, const char* rest) {
  va_list measured;
  va_copy(measured, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, measured);
  va_end(measured);
  const size_t head = std::min(static_cast<size_t>(std::max(length, 0)), kMaxMessage);
  const size_t size = rest == nullptr ? head : std::min(head + 2 + std::strlen(rest), kMaxMessage);
  std::unique_ptr<char[]> text(new (std::nothrow) char[size + 1]);
  if (!text) return text;
  std::vsnprintf(text.get(), head + 1, format, arguments);
  if (rest != nullptr) std::snprintf(text.get() + head, size - head + 1, ": %s", rest);
  return text;
}

}  // namespace

const char* error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return "Ok";
    case ErrorCode::kInternal:
      return "Internal";
    case ErrorCode::kInvalidState:
      return "InvalidState";
    case ErrorCode::kEndOfMethod:
      return "EndOfMethod";
    case ErrorCode::kAlreadyLoaded:
      return "AlreadyLoaded";
    case ErrorCode::kNotSupported:
      return "NotSupported";
    case ErrorCode::kNotImplemented:
      return "NotImplemented";
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kInvalidType:
      return "InvalidType";
    case ErrorCode::kOperatorMissing:
      return "OperatorMissing";
    case ErrorCode::kRegistrationExceedingMaxKernels:
      return "RegistrationExceedingMaxKernels";
    case ErrorCode::kRegistrationAlreadyRegistered:
      return "RegistrationAlreadyRegistered";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kMemoryAllocationFailed:
      return "MemoryAllocationFailed";
    case ErrorCode::kAccessFailed:
      return "AccessFailed";
    case ErrorCode::kInvalidProgram:
      return "InvalidProgram";
    case ErrorCode::kInvalidExternalData:
      return "InvalidExternalData";
    case ErrorCode::kOutOfResources:
      return "OutOfResources";
    case ErrorCode::kDelegateInvalidCompatibility:
      return "DelegateInvalidCompatibility";
    case ErrorCode::kDelegateMemoryAllocationFailed:
      return "DelegateMemoryAllocationFailed";
    case ErrorCode::kDelegateInvalidHandle:
      return "DelegateInvalidHandle";
  }
  return "Unknown";
}

Error Error::make(ErrorCode code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Error error;
  error.code_ = code;
  error.message_ = format_text(format, arguments, nullptr);
  va_end(arguments);
  return error;
}

Error Error::in(const char* format, ...) && {
  if (ok()) return Error();
  va_list arguments;
  va_start(arguments, format);
  Error error;
  error.code_ = code_;
  error.message_ = format_text(format, arguments, message());
  va_end(arguments);
  return error;
}

}  // namespace vitrine
