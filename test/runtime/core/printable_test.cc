#include "runtime/core/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace vitrine {
namespace {

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

}  // namespace
}  // namespace vitrine
