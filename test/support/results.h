// Checks results: values that must be present, and errors with expected codes and messages.
#pragma once

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "vitrine/error.h"

namespace vitrine::test {

// Returns the value. If there is an error, throws an exception with its message, so the test fails.
template <class T>
T require(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message());
  return *std::move(result);
}

// Returns the message of the exception that `act` throws; empty if it does not throw one.
template <class Exception, class Act>
std::string thrown(Act act) {
  try {
    act();
  } catch (const Exception& exception) {
    return exception.what();
  }
  return "";
}

inline const Error& error_of(const Error& error) { return error; }
template <class T>
const Error& error_of(const Result<T>& result) {
  static const Error success;
  return result.ok() ? success : result.error();
}

// Matches an Error or a Result with this error code. `message` is the expected text, or a matcher
// for the text.
MATCHER_P2(FailsWith, code, message, "") {
  const Error& error = error_of(arg);
  *result_listener << "with the message \"" << error.message() << '"';
  return error.code() == code &&
         testing::ExplainMatchResult(message, std::string(error.message()), result_listener);
}

}  // namespace vitrine::test
