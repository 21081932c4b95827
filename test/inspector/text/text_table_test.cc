#include "inspector/text/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspector/text/text_layout.h"

namespace vitrine::inspector {
namespace {

TEST(TextLayout, CountsCellsNotBytes) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("…é"), 2u);
  EXPECT_EQ(display_width("e\u0301"), 1u) << "combining accent";
  EXPECT_EQ(display_width("層"), 2u);
}

TEST(TextLayout, MakesHostileNamesPrintable) {
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

TextTable sample_table() {
  TextTable table;
  table.add_column("#", TextTable::Kind::kFigure);
  table.add_column("op", TextTable::Kind::kName);
  table.add_column("nothing", TextTable::Kind::kName);
  table.add_column("module", TextTable::Kind::kTail);
  table.add_column("us", TextTable::Kind::kFigure);
  table.add_row(
      {{"1"}, {"convolution + relu", "convolution +1"}, {""}, {"net.features.0"}, {"12.5"}});
  table.add_row({{"2"}, {"add"}, {""}, {"net.add"}, {"1234.5"}}, true);
  table.add_total({"wall of all rows", "wall"}, 1, {"1247.0"}, 4);
  return table;
}

TEST(TextTable, AlignsAndLeavesEmptyColumnsOut) {
  EXPECT_EQ(sample_table().text(80, false),
            "#  op                  module              us\n"
            "1  convolution + relu  net.features.0    12.5\n"
            "2  add                 net.add         1234.5\n"
            "─────────────────────────────────────────────\n"
            "   wall of all rows                    1247.0\n");
}

TEST(TextTable, AbbreviatesThenCutsNamesButNeverFigures) {
  EXPECT_EQ(sample_table().text(40, false),
            "#  op              module             us\n"
            "1  convolution +1  net.features.0   12.5\n"
            "2  add             net.add        1234.5\n"
            "────────────────────────────────────────\n"
            "   wall of all rows               1247.0\n");
  EXPECT_EQ(sample_table().text(32, false),
            "#  op          module         us\n"
            "1  convoluti…  …eatures.0   12.5\n"
            "2  add         net.add    1234.5\n"
            "────────────────────────────────\n"
            "   wall of all rows       1247.0\n");
}

TEST(TextTable, AbbreviatesTheLabelOfATotal) {
  TextTable table;
  table.add_column("op", TextTable::Kind::kName);
  table.add_column("us", TextTable::Kind::kFigure);
  table.add_row({{"add"}, {"1"}});
  table.add_total({"wall of all rows", "sum"}, 0, {"1"}, 1);
  EXPECT_EQ(table.text(80, false),
            "op   us\n"
            "add   1\n"
            "───────\n"
            "sum   1\n");
}

TEST(TextTable, LabelsTotalsWithoutRows) {
  TextTable table;
  table.add_column("#", TextTable::Kind::kFigure);
  table.add_column("op", TextTable::Kind::kName);
  table.add_column("us", TextTable::Kind::kFigure);
  table.add_total({"3 rows filtered out", "filtered out"}, 1, {"12"}, 2);
  table.add_total({"wall"}, 1, {"345"}, 2);
  EXPECT_EQ(table.text(80, false),
            "  op                    us\n"
            "──────────────────────────\n"
            "  3 rows filtered out   12\n"
            "  wall                 345\n");
  EXPECT_EQ(table.text(24, false),
            "  op                  us\n"
            "────────────────────────\n"
            "  filtered out        12\n"
            "  wall               345\n");
}

TEST(TextTable, ColoursOnlyRowsThatStandOutAndOnlyIfAsked) {
  EXPECT_THAT(sample_table().text(80, false), testing::Not(testing::HasSubstr("\x1b")));
  const std::string text = sample_table().text(80, true);
  EXPECT_THAT(text, testing::HasSubstr("\x1b[33m2  add"));
  EXPECT_THAT(text, testing::HasSubstr("1234.5\x1b[0m\n"));
  EXPECT_THAT(text, testing::HasSubstr("\n1  convolution"));
}

}  // namespace
}  // namespace vitrine::inspector
