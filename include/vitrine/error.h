// Errors of the device side: what went wrong, where, and what to do.
//
// Functions that can fail return `Error`, or `Result<T>` when they also return a value. Success
// costs a word and no allocation. A failure carries a code (numbers are ExecuTorch's, so that
// users find their way) and a text that names the place, e.g.
// "execution_plan[0].values[37].sizes: is missing". The text is heap-allocated once, when the error
// is made; if that allocation fails the error keeps its code and an empty text.
// Errors are movable, not copyable, and hold no reference to anything else. No exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
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
  constexpr Error() = default;  // success
  Error(Error&& other) noexcept : state_(std::exchange(other.state_, 0)) {}
  Error& operator=(Error&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  // Inlined: on most paths the compiler knows that there is nothing to release.
  [[gnu::always_inline]] ~Error() {
    if (state_ != 0) release();
  }

  // printf-style; the text is cut at 16000 characters.
  [[gnu::format(printf, 2, 3)]] static Error make(ErrorCode code, const char* format, ...);

  bool ok() const { return state_ == 0; }
  ErrorCode code() const;
  // Never null; empty for success.
  const char* message() const;

  // The same error with "`place`: " before its text: callers add it when they know it.
  [[gnu::format(printf, 2, 3)]] Error in(const char* format, ...) &&;

 private:
  void release();

  // One word, so that the many places that pass errors on cost little code. 0: success. Odd: twice
  // the code, and one: there was no memory for a text. Else the address of the code, an ErrorCode,
  // and the text behind it.
  uintptr_t state_ = 0;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : ok_(true), value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  // `error` must not be a success.
  Result(Error error)  // NOLINT(google-explicit-constructor)
      : ok_(false), error_(std::move(error)) {}
  Result(Result&& other) noexcept : ok_(other.ok_) {
    if (ok_) {
      new (&value_) T(std::move(other.value_));
    } else {
      new (&error_) Error(std::move(other.error_));
    }
  }
  Result& operator=(Result&& other) noexcept {
    if (this == &other) return *this;
    this->~Result();
    return *new (this) Result(std::move(other));
  }
  ~Result() {
    if (ok_) {
      value_.~T();
    } else {
      error_.~Error();
    }
  }

  bool ok() const { return ok_; }
  // Only if not ok().
  const Error& error() const { return error_; }
  // A success if ok().
  Error take_error() { return ok_ ? Error() : std::move(error_); }

  // Only if ok().
  T& operator*() & { return value_; }
  const T& operator*() const& { return value_; }
  // A value, so that `for (float x : *array.data<float>())` refers to nothing that is gone.
  T operator*() && { return std::move(value_); }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

 private:
  bool ok_;
  union {
    T value_;
    Error error_;
  };
};

}  // namespace vitrine

#define VITRINE_CONCAT_INNER(a, b) a##b
#define VITRINE_CONCAT(a, b) VITRINE_CONCAT_INNER(a, b)

// VITRINE_RETURN_IF_ERROR(read(file));
// VITRINE_RETURN_IF_ERROR(read(file), "files[%u]", i);  // with the place, as by in()
#define VITRINE_RETURN_IF_ERROR(expression, ...)                                \
  do {                                                                          \
    if (::vitrine::Error vitrine_error = (expression); !vitrine_error.ok())     \
      return __VA_OPT__(std::move)(vitrine_error) __VA_OPT__(.in(__VA_ARGS__)); \
  } while (false)

// VITRINE_ASSIGN_OR_RETURN(auto x, make_x());
#define VITRINE_ASSIGN_OR_RETURN(declaration, expression) \
  VITRINE_ASSIGN_OR_RETURN_IMPL(VITRINE_CONCAT(vitrine_result_, __LINE__), declaration, expression)
#define VITRINE_ASSIGN_OR_RETURN_IMPL(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) return result.take_error();                        \
  declaration = std::move(*result)
