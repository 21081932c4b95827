#include "vitrine/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace vitrine {
namespace {

TEST(Error, DefaultIsSuccess) {
  const Error error;
  EXPECT_TRUE(error.ok());
  EXPECT_EQ(error.code(), ErrorCode::kOk);
  EXPECT_STREQ(error.message(), "");
}

TEST(Error, KeepsCodeAndFormattedText) {
  const Error error = Error::make(ErrorCode::kNotFound, "%s has %d", "it", 3);
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_STREQ(error.message(), "it has 3");
}

TEST(Error, LocationsPrecedeTheMessage) {
  Error error = Error::make(ErrorCode::kInvalidProgram, "is missing").in("values[%d]", 37);
  error = std::move(error).in("execution_plan[%d]", 0);
  EXPECT_STREQ(error.message(), "execution_plan[0]: values[37]: is missing");
  EXPECT_EQ(error.code(), ErrorCode::kInvalidProgram);
}

TEST(Error, AddingALocationToSuccessHasNoEffect) {
  const Error error = Error().in("here");
  EXPECT_TRUE(error.ok());
  EXPECT_STREQ(error.message(), "");
}

TEST(Error, CutsLongMessages) {
  const std::string text(20000, 'x');
  const Error error = Error::make(ErrorCode::kInternal, "%s", text.c_str());
  EXPECT_EQ(std::string(error.message()), text.substr(0, 16000));
  const Error placed = Error::make(ErrorCode::kInternal, "%s", text.c_str()).in("at");
  EXPECT_EQ(std::string(placed.message()), "at: " + text.substr(0, 15996));
  const Error long_place = Error::make(ErrorCode::kInternal, "x").in("%s", text.c_str());
  EXPECT_EQ(std::string(long_place.message()), text.substr(0, 16000));
}

TEST(Error, MovingTransfersTheMessage) {
  Error from = Error::make(ErrorCode::kInternal, "text");
  const Error to = std::move(from);
  EXPECT_STREQ(to.message(), "text");
}

TEST(ErrorCode, NumbersAndNamesMatchExecuTorch) {
  EXPECT_EQ(static_cast<uint32_t>(ErrorCode::kOperatorMissing), 0x14u);
  EXPECT_EQ(static_cast<uint32_t>(ErrorCode::kMemoryAllocationFailed), 0x21u);
  EXPECT_EQ(static_cast<uint32_t>(ErrorCode::kInvalidProgram), 0x23u);
  EXPECT_EQ(static_cast<uint32_t>(ErrorCode::kDelegateInvalidHandle), 0x32u);
  EXPECT_STREQ(error_code_name(ErrorCode::kInvalidExternalData), "InvalidExternalData");
  EXPECT_STREQ(error_code_name(ErrorCode::kOk), "Ok");
  EXPECT_STREQ(error_code_name(static_cast<ErrorCode>(0x99)), "Unknown");
}

Result<int> half_of(int number) {
  if (number % 2 != 0) return Error::make(ErrorCode::kInvalidArgument, "%d is odd", number);
  return number / 2;
}

Result<int> quarter_of(int number) {
  VITRINE_ASSIGN_OR_RETURN(const int half, half_of(number));
  return half_of(half);
}

Error check_quarter(int number) {
  Result<int> quarter = quarter_of(number);
  VITRINE_RETURN_IF_ERROR(quarter.take_error());
  return Error();
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = half_of(6);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  const Result<int> bad = half_of(7);
  ASSERT_FALSE(bad.ok());
  EXPECT_STREQ(bad.error().message(), "7 is odd");
  EXPECT_TRUE(half_of(6).take_error().ok());
}

TEST(Result, DereferencingATemporaryReturnsAValue) {
  static_assert(std::is_same_v<decltype(*half_of(6)), int>);
  std::string letters;
  const auto text_of = [] { return Result<std::string>(std::string(100, 'a')); };
  for (const char letter : *text_of()) letters += letter;
  EXPECT_EQ(letters, std::string(100, 'a'));
}

TEST(Result, MacrosPropagateErrors) {
  EXPECT_EQ(*quarter_of(8), 2);
  EXPECT_STREQ(quarter_of(6).error().message(), "3 is odd");
  EXPECT_TRUE(check_quarter(8).ok());
  EXPECT_STREQ(check_quarter(5).message(), "5 is odd");
}

}  // namespace
}  // namespace vitrine
