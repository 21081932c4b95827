// Error and Result<T> report failures on the device side, which does not use exceptions.
//
// A failure has a code and a message that names the location, such as
// "execution_plan[0].values[37].sizes: is missing". Codes have ExecuTorch's numbers. An Error takes
// one word. A failure allocates its message on the heap. If that allocation fails, the message is
// empty. A success does not allocate. Errors can be moved but not copied, and do not refer to other
// objects.
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

const char* error_code_name(ErrorCode code);

class [[nodiscard]] Error {
 public:
  constexpr Error() = default;  // success
  Error(Error&& other) noexcept : state_(std::exchange(other.state_, 0)) {}
  Error& operator=(Error&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  // Inline, because on most paths the compiler knows that there is nothing to release.
  [[gnu::always_inline]] ~Error() {
    if (state_ != 0) release();
  }

  // Formats the message like printf. Messages are cut at 16000 characters.
  [[gnu::format(printf, 2, 3)]] static Error make(ErrorCode code, const char* format, ...);

  bool ok() const { return state_ == 0; }
  ErrorCode code() const;
  // The message is never null. It is empty for success.
  const char* message() const;

  // Puts the formatted location and ": " before the message, and returns the error.
  [[gnu::format(printf, 2, 3)]] Error in(const char* format, ...) &&;

 private:
  void release();

  // 0: success. Odd number 2 * code + 1: an error whose message could not be allocated. Other
  // numbers: the address of a heap block with an ErrorCode and the message.
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
  // Must not be called if ok().
  const Error& error() const { return error_; }
  // Moves the error out; returns success if ok().
  Error take_error() { return ok_ ? Error() : std::move(error_); }

  // Must be called only if ok().
  T& operator*() & { return value_; }
  const T& operator*() const& { return value_; }
  // Returns a value, because a reference would dangle in `for (float x : *array.data<float>())`.
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
// VITRINE_RETURN_IF_ERROR(read(file), "files[%u]", i);  // adds a location, as Error::in() does
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
