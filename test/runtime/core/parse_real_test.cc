#include "runtime/core/parse_real.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

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
