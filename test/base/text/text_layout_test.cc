#include "base/text/text_layout.h"

#include <gtest/gtest.h>

namespace vitrine::inspector {
namespace {

TEST(TextLayout, DisplayWidthCountsTerminalCells) {
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

TEST(TextLayout, MarksCutTextWithAnEllipsis) {
  EXPECT_EQ(cut_left("features.17.conv", 8), "…17.conv");
  EXPECT_EQ(cut_left("abc", 3), "abc");
  EXPECT_EQ(cut_right("convolution", 5), "conv…");
  EXPECT_EQ(cut_right("層層層", 4), "層…") << "no half characters";
  EXPECT_EQ(cut_left("層層層", 4), "…層");
  EXPECT_EQ(cut_right("abc", 0), "");
  EXPECT_EQ(cut_middle("Fully Connected (NC) #2", 10), "Full…C) #2");
  EXPECT_EQ(cut_middle("abc", 3), "abc");
  EXPECT_EQ(cut_middle("abcd", 1), "…");
  EXPECT_EQ(cut_middle("abcd", 0), "");
  EXPECT_EQ(cut_left("abc", 1), "…");
}

TEST(TextLayout, WrapsLinesBetweenItems) {
  EXPECT_EQ(wrap("x: ", {"aaa", "bbb", "ccc"}, ", ", 12), "x: aaa, bbb\n   ccc\n");
}

TEST(TextLayout, ShortListOfNamesEndsWithTheNumberOfOmittedNames) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(first_names({"a", "b", "c", "d"}, 2), (Names{"a", "b", "2 more"}));
  EXPECT_EQ(first_names({"a", "b", "c"}, 2), (Names{"a", "b", "c"}));
  EXPECT_EQ(first_names({}, 2), Names{});
}

TEST(TextLayout, ItemsWiderThanALineAreBrokenAtSpaces) {
  EXPECT_EQ(wrap("x  ", {"A 12.0 us   B 13.0 us", "b"}, ", ", 12),
            "x  A 12.0 us\n   B 13.0 us\n   b\n");
  EXPECT_EQ(wrap("", {"unbreakable", "b"}, " ", 5), "unbreakable\nb\n");
}

TEST(TextLayout, ShortenedPathKeepsNumbersAndTheLastPart) {
  const char* path = "layers.12.attention.rope.apply_rotary_emb";
  EXPECT_EQ(cut_path(path, 41), path);
  EXPECT_EQ(cut_path(path, 36), "…12.attention.rope.apply_rotary_emb");
  EXPECT_EQ(cut_path(path, 25), "…12…rope.apply_rotary_emb");
  EXPECT_EQ(cut_path(path, 20), "…12…apply_rotary_emb");
  EXPECT_EQ(cut_path(path, 12), "…12…tary_emb");
  EXPECT_EQ(cut_path(path, 7), "…ry_emb");
  EXPECT_EQ(cut_path("model.layer4.block.1.conv2", 21), "…layer4.block.1.conv2");
  EXPECT_EQ(cut_path("model.layer4.block.1.conv2", 16), "…layer4…1.conv2");
  EXPECT_EQ(cut_path("model.layer4.block.1.conv2", 9), "…1.conv2");
  EXPECT_EQ(cut_path("features.17.conv.1.0", 10), "…17…1.0");
  EXPECT_EQ(cut_path("projection", 5), "…tion");
  EXPECT_EQ(cut_path("12.projection", 8), "12…ction");
  EXPECT_EQ(cut_path("a.b", 0), "");
  EXPECT_EQ(cut_path("..", 1), "…");
}

TEST(TextLayout, ShortenedPathNeverExceedsTheWidth) {
  for (const char* path :
       {"層.0.層層.w", "a.1.2.3.4.5.6.7.8.9", "...", "1.2", "x", "abc.12.defghi"}) {
    for (size_t width = 0; width < 20; ++width) {
      EXPECT_LE(display_width(cut_path(path, width)), width) << path;
    }
  }
}

TEST(TextLayout, DrawsBarsInEighthsOfACharacter) {
  EXPECT_EQ(bar(0, 4), "");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(0.5, 3), "█▌");
  EXPECT_EQ(bar(7, 2), "██");
  EXPECT_EQ(bar(-1, 2), "");
}

}  // namespace
}  // namespace vitrine::inspector
