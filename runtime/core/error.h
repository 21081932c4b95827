// What went wrong, where, and what to do: the error idiom of the device side.
//
// Functions that can fail return `Error`, or `Result<T>` when they also return a value. Success
// costs two words and no allocation. A failure carries a code (numbers are ExecuTorch's, so that
// users find their way) and a text that names the place, e.g.
// "execution_plan[0].values[37].sizes: is missing". The text is heap-allocated once, when the error
// is made; if that allocation fails the error keeps its code and an empty text.
// Errors are movable, not copyable, and hold no reference to anything else. No exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace vitrine {

enum class ErrorCode : uint32_t {
  kOk = 0x00,
  kInternal = 0x01,
  kInvalidState = 0x02,
  kEndOfMethod = 0x03,
  kAlreadyLoaded = 0x04,
  kNotSupported = 0x10,
  kNotImplemented = 0x11,
  kInvalidArgument = 0x12,
  kInvalidType = 0x13,
  kOperatorMissing = 0x14,
  kRegistrationExceedingMaxKernels = 0x15,
  kRegistrationAlreadyRegistered = 0x16,
  kNotFound = 0x20,
  kMemoryAllocationFailed = 0x21,
  kAccessFailed = 0x22,
  kInvalidProgram = 0x23,
  kInvalidExternalData = 0x24,
  kOutOfResources = 0x25,
  kDelegateInvalidCompatibility = 0x30,
  kDelegateMemoryAllocationFailed = 0x31,
  kDelegateInvalidHandle = 0x32,
};

// "InvalidProgram" and the like.
const char* error_code_name(ErrorCode code);

class [[nodiscard]] Error {
 public:
  Error() = default;  // success

  // printf-style; the text is cut at 16000 characters.
  [[gnu::format(printf, 2, 3)]] static Error make(ErrorCode code, const char* format, ...);

  bool ok() const { return code_ == ErrorCode::kOk; }
  ErrorCode code() const { return code_; }
  // Never null; empty for success.
  const char* message() const { return message_ ? message_.get() : ""; }

  // The same error with "`place`: " before its text: callers that know more say more.
  [[gnu::format(printf, 2, 3)]] Error in(const char* format, ...) &&;

 private:
  ErrorCode code_ = ErrorCode::kOk;
  std::unique_ptr<char[]> message_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  // `error` must not be a success.
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  const Error& error() const { return error_; }
  Error take_error() { return std::move(error_); }

  // Only if ok().
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Error error_;
};

}  // namespace vitrine

#define VITRINE_CONCAT_INNER(a, b) a##b
#define VITRINE_CONCAT(a, b) VITRINE_CONCAT_INNER(a, b)

#define VITRINE_RETURN_IF_ERROR(expression)                                                       \
  do {                                                                                            \
    if (::vitrine::Error vitrine_error = (expression); !vitrine_error.ok()) return vitrine_error; \
  } while (false)

// VITRINE_ASSIGN_OR_RETURN(auto x, make_x());
#define VITRINE_ASSIGN_OR_RETURN(declaration, expression) \
  VITRINE_ASSIGN_OR_RETURN_IMPL(VITRINE_CONCAT(vitrine_result_, __LINE__), declaration, expression)
#define VITRINE_ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) return result.take_error();                        \
  declaration = std::move(*result)
