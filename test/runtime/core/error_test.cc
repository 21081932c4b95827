#include "vitrine/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "runtime/core/parse_real.h"
#include "runtime/core/printable.h"

namespace vitrine {
namespace {

TEST(Error, DefaultIsSuccessEvenWithALocation) {
  const Error errors[] = {Error(), Error().in("here")};
  for (const Error& error : errors) {
    SCOPED_TRACE(&error - errors);
    EXPECT_TRUE(error.ok());
    EXPECT_EQ(error.code(), ErrorCode::kOk);
    EXPECT_STREQ(error.message(), "");
  }
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

TEST(Error, CutsLongMessages) {
  const std::string text(20000, 'x');
  EXPECT_EQ(std::string(Error::make(ErrorCode::kInternal, "%s", text.c_str()).message()),
            text.substr(0, 16000));
  EXPECT_EQ(std::string(Error::make(ErrorCode::kInternal, "%s", text.c_str()).in("at").message()),
            "at: " + text.substr(0, 15996));
  EXPECT_EQ(std::string(Error::make(ErrorCode::kInternal, "x").in("%s", text.c_str()).message()),
            text.substr(0, 16000));
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

std::string printable(std::string text) {
  make_printable(text);
  return text;
}

TEST(Printable, ReplacesEachByteOfControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb\a\r\x7f\r\n"), "a?[31mb????\n");
  EXPECT_EQ(printable(std::string("\0x", 2)), "?x");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "??31m");  // U+009B, a control character that begins an escape sequence
}

TEST(Printable, KeepsTextTabsAndNewLines) {
  const std::string text = "caf\u00e9 \u4e2d\U0001f468\u200d\U0001f469\tx\ny\n\u00a0";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff"), "?");
  EXPECT_EQ(printable("a\xc3"), "a?");               // incomplete
  EXPECT_EQ(printable("\xc0\x80"), "??");            // an overlong encoding
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // above U+10FFFF
  EXPECT_EQ(printable("\xe2\x28\xa1"), "?(?");
}

TEST(ParseReal, AcceptsOnlyTextThatIsEntirelyANumber) {
  double number = 0;
  EXPECT_TRUE(parse_real("-0.5", number) && number == -0.5);
  EXPECT_TRUE(parse_real("1e-05", number) && number == 1e-5);
  EXPECT_TRUE(parse_real("2", number) && number == 2);
  for (const char* text : {"", "-", "1,5", "1.5 ", " 1.5", "+1.5", "0x10", "1.5f", "one"}) {
    EXPECT_FALSE(parse_real(text, number)) << text;
  }
}

TEST(ParseReal, NeverReadsPastTheText) {
  double number = 0;
  EXPECT_TRUE(parse_real(std::string_view("1.25", 3), number));
  EXPECT_EQ(number, 1.2);
}

}  // namespace
}  // namespace vitrine
