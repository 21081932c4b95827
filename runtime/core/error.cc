#include "vitrine/error.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vitrine {
namespace {

// Maximum length of a message, because names in files can have any length. The names of all
// operators of a large program fit.
constexpr size_t kMaxMessage = 16000;

// Returns the state of an error. The message is the formatted text, ": " and `rest`, cut at
// kMaxMessage characters. If `rest` is null, the message is only the formatted text.
uintptr_t make_state(ErrorCode code, const char* format, va_list arguments, const char* rest) {
  va_list measured;
  va_copy(measured, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, measured);
  va_end(measured);
  const size_t head = std::min(static_cast<size_t>(std::max(length, 0)), kMaxMessage);
  const size_t size = rest == nullptr ? head : std::min(head + 2 + std::strlen(rest), kMaxMessage);
  void* memory = std::malloc(sizeof code + size + 1);
  if (memory == nullptr) return static_cast<uintptr_t>(code) << 1 | 1;
  char* text = static_cast<char*>(memory) + sizeof code;
  std::memcpy(memory, &code, sizeof code);
  text[0] = '\0';
  std::vsnprintf(text, head + 1, format, arguments);
  if (rest != nullptr) std::snprintf(text + head, size - head + 1, ": %s", rest);
  return reinterpret_cast<uintptr_t>(memory);
}

// NOLINTNEXTLINE(performance-no-int-to-ptr): one word holds an address or a code.
char* memory_at(uintptr_t state) { return reinterpret_cast<char*>(state); }

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
  return static_cast<uint32_t>(code) == 0x40 ? "Canceled" : "Unknown";  // stop_signal.h
}

Error Error::make(ErrorCode code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Error error;
  error.state_ = make_state(code, format, arguments, nullptr);
  va_end(arguments);
  return error;
}

Error Error::in(const char* format, ...) && {
  Error error;
  if (ok()) return error;
  va_list arguments;
  va_start(arguments, format);
  error.state_ = make_state(code(), format, arguments, message());
  va_end(arguments);
  return error;
}

ErrorCode Error::code() const {
  if ((state_ & 1) != 0 || ok()) return static_cast<ErrorCode>(state_ >> 1);
  ErrorCode code;
  std::memcpy(&code, memory_at(state_), sizeof code);
  return code;
}

const char* Error::message() const {
  if ((state_ & 1) != 0 || ok()) return "";
  return memory_at(state_) + sizeof(ErrorCode);
}

void Error::release() {
  if ((state_ & 1) == 0) std::free(memory_at(state_));
}

}  // namespace vitrine
