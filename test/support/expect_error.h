// Checks texts, such as the messages of exceptions.
#pragma once

#include <gmock/gmock.h>

#include <string>

namespace vitrine::test {

// Matches strings that contain all `texts`.
template <class... Texts>
auto HasSubstrs(const Texts&... texts) {
  return testing::AllOf(testing::HasSubstr(std::string(texts))...);
}

}  // namespace vitrine::test

// Expects that `statement` throws an exception of type `Error` whose message contains `text`.
#define EXPECT_ERROR(Error, statement, text) \
  EXPECT_THAT([&] { statement; }, testing::ThrowsMessage<Error>(testing::HasSubstr(text)))
