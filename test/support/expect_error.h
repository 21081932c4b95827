// Expects that a statement throws an error of this type whose message contains a text.
#pragma once

#include <gmock/gmock.h>

#define EXPECT_ERROR(Error, statement, text) \
  EXPECT_THAT([&] { statement; }, testing::ThrowsMessage<Error>(testing::HasSubstr(text)))
