#include "base/text/text_layout.h"

#include <gtest/gtest.h>

namespace vitrine::inspector {
namespace {

TEST(TextLayout, DisplayWidthCountsCells) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("…é"), 2u);
  EXPECT_EQ(display_width("e\u0301"), 1u) << "combining accent";
  EXPECT_EQ(display_width("層"), 2u);
}

TEST(TextLayout, ReplacesControlCharactersAndInvalidUtf8) {
  EXPECT_EQ(printable("conv\x1b[31m"), "conv?[31m");
  EXPECT_EQ(printable("a\nb\tc"), "a?b?c");
  EXPECT_EQ(printable("\xff\xc3 \xe2\x82"), "?? ??");
  EXPECT_EQ(printable("\u202eabc"), "?abc") << "right-to-left override";
  EXPECT_EQ(printable("\xc0\x80"), "??") << "overlong zero";
  EXPECT_EQ(printable("層…é"), "層…é");
}

TEST(TextLayout, CutsWithAnEllipsis) {
  EXPECT_EQ(cut_left("features.17.conv", 8), "…17.conv");
  EXPECT_EQ(cut_left("abc", 3), "abc");
  EXPECT_EQ(cut_right("convolution", 5), "conv…");
  EXPECT_EQ(cut_right("層層層", 4), "層…") << "no half characters";
  EXPECT_EQ(cut_left("層層層", 4), "…層");
  EXPECT_EQ(cut_right("abc", 0), "");
  EXPECT_EQ(cut_left("abc", 1), "…");
}

TEST(TextLayout, WrapsBetweenParts) {
  EXPECT_EQ(wrap("x: ", {"aaa", "bbb", "ccc"}, ", ", 12), "x: aaa, bbb\n   ccc\n");
  EXPECT_EQ(wrap("", {"much too long for it", "b"}, " ", 5), "much too long for it\nb\n");
}

TEST(TextLayout, DrawsBarsInEighths) {
  EXPECT_EQ(bar(0, 4), "");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.5, 3), "█▌");
  EXPECT_EQ(bar(7, 2), "██");
  EXPECT_EQ(bar(-1, 2), "");
}

}  // namespace
}  // namespace vitrine::inspector
