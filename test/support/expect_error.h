// EXPECT_ERROR expects that `statement` throws an exception of type `Error` whose message contains
// `text`.
#pragma once

#include <gmock/gmock.h>

#define EXPECT_ERROR(Error, statement, text) \
  EXPECT_THAT([&] { statement; }, testing::ThrowsMessage<Error>(testing::HasSubstr(text)))
