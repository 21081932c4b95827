#include "runtime/core/error.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace vitrine {
namespace {

constexpr size_t kMaxMessage = 1000;

std::unique_ptr<char[]> copy_text(const char* text) {
  const size_t size = std::strlen(text) + 1;
  std::unique_ptr<char[]> copy(new (std::nothrow) char[size]);
  if (copy) std::memcpy(copy.get(), text, size);
  return copy;
}

}  // namespace

const char* error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk: return "Ok";
    case ErrorCode::kInternal: return "Internal";
    case ErrorCode::kInvalidState: return "InvalidState";
    case ErrorCode::kEndOfMethod: return "EndOfMethod";
    case ErrorCode::kAlreadyLoaded: return "AlreadyLoaded";
    case ErrorCode::kNotSupported: return "NotSupported";
    case ErrorCode::kNotImplemented: return "NotImplemented";
    case ErrorCode::kInvalidArgument: return "InvalidArgument";
    case ErrorCode::kInvalidType: return "InvalidType";
    case ErrorCode::kOperatorMissing: return "OperatorMissing";
    case ErrorCode::kRegistrationExceedingMaxKernels: return "RegistrationExceedingMaxKernels";
    case ErrorCode::kRegistrationAlreadyRegistered: return "RegistrationAlreadyRegistered";
    case ErrorCode::kNotFound: return "NotFound";
    case ErrorCode::kMemoryAllocationFailed: return "MemoryAllocationFailed";
    case ErrorCode::kAccessFailed: return "AccessFailed";
    case ErrorCode::kInvalidProgram: return "InvalidProgram";
    case ErrorCode::kInvalidExternalData: return "InvalidExternalData";
    case ErrorCode::kOutOfResources: return "OutOfResources";
    case ErrorCode::kDelegateInvalidCompatibility: return "DelegateInvalidCompatibility";
    case ErrorCode::kDelegateMemoryAllocationFailed: return "DelegateMemoryAllocationFailed";
    case ErrorCode::kDelegateInvalidHandle: return "DelegateInvalidHandle";
  }
  return "Unknown";
}

Error Error::make(ErrorCode code, const char* format, ...) {
  char text[kMaxMessage];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  Error error;
  error.code_ = code;
  error.message_ = copy_text(text);
  return error;
}

Error Error::in(const char* format, ...) && {
  if (ok()) return Error();
  char text[kMaxMessage];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length >= 0 && static_cast<size_t>(length) < sizeof text) {
    std::snprintf(text + length, sizeof text - static_cast<size_t>(length), ": %s", message());
  }
  Error error;
  error.code_ = code_;
  error.message_ = copy_text(text);
  return error;
}

}  // namespace vitrine
