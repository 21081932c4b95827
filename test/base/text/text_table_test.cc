#include "base/text/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/text/number_texts.h"
#include "base/text/text_layout.h"

namespace vitrine::inspector {
namespace {

using enum TextTable::Kind;

struct Column {
  TextTable::Cell title;
  TextTable::Kind kind;
  size_t rank = 0;
};

TextTable table_of(std::initializer_list<Column> columns) {
  TextTable table;
  for (const Column& column : columns) table.add_column(column.title, column.kind, column.rank);
  return table;
}

TextTable sample_table() {
  TextTable table = table_of(
      {{"#", kFigure}, {"op", kName}, {"nothing", kName}, {"module", kPath}, {"us", kFigure}});
  table.add_row(
      {{"1"}, {"convolution + relu", "convolution +1"}, {""}, {"net.features.0"}, {"12.5"}});
  table.add_row({{"2"}, {"add"}, {""}, {"net.add"}, {"1234.5"}}, true);
  table.add_total({"wall of all rows", "wall"}, 1, {"1247.0"}, 4);
  return table;
}

TEST(TextTable, AlignsColumnsAndOmitsEmptyColumns) {
  EXPECT_EQ(sample_table().text(80, false),
            "#  op                  module              us\n"
            "1  convolution + relu  net.features.0    12.5\n"
            "2  add                 net.add         1234.5\n"
            "─────────────────────────────────────────────\n"
            "   wall of all rows                    1247.0\n");
}

TEST(TextTable, AbbreviatesNamesBeforeItCutsThem) {
  EXPECT_EQ(sample_table().text(40, false),
            "#  op              module             us\n"
            "1  convolution +1  net.features.0   12.5\n"
            "2  add             net.add        1234.5\n"
            "────────────────────────────────────────\n"
            "   wall of all rows               1247.0\n");
  EXPECT_EQ(sample_table().text(32, false),
            "#  op             module      us\n"
            "1  convolution …  …0        12.5\n"
            "2  add            net.add 1234.5\n"
            "────────────────────────────────\n"
            "   wall of all rows       1247.0\n");
}

TEST(TextTable, AbbreviatesTheLabelOfATotal) {
  TextTable table = table_of({{"op", kName}, {"us", kFigure}});
  table.add_row({{"add"}, {"1"}});
  table.add_total({"wall of all rows", "sum"}, 0, {"1"}, 1);
  EXPECT_EQ(table.text(80, false),
            "op   us\n"
            "add   1\n"
            "───────\n"
            "sum   1\n");
}

TEST(TextTable, WidensTheLabelColumnForTotals) {
  TextTable table = table_of({{"op", kName}, {"rows", kFigure}, {"us", kFigure}});
  table.add_row({{"add"}, {"2"}, {"1"}});
  table.add_total({"inputs and logits"}, 0, {"345"}, 2);
  EXPECT_EQ(table.text(80, false),
            "op           rows   us\n"
            "add             2    1\n"
            "──────────────────────\n"
            "inputs and logits  345\n");
}

TEST(TextTable, DropsColumnsByRankBeforeItCutsNames) {
  TextTable table = table_of({{"op", kName},
                              {"module", kPath},
                              {"kernel", kName, 1},
                              {"us", kFigure},
                              {"cum %", kFigure, 2}});
  table.add_row({"convolution", "net.features.10", "aten::conv.out", "12.5", "3.1"});
  EXPECT_EQ(table.text(60, false),
            "op           module           kernel            us  cum %\n"
            "convolution  net.features.10  aten::conv.out  12.5    3.1\n");
  EXPECT_EQ(table.text(50, false),
            "op           module           kernel            us\n"
            "convolution  net.features.10  aten::conv.out  12.5\n");
  EXPECT_EQ(table.text(48, false),
            "op           module             us\n"
            "convolution  net.features.10  12.5\n");
  EXPECT_EQ(table.text(28, false),
            "op           module       us\n"
            "convolution  …10        12.5\n");
}

TEST(TextTable, KeepsAColumnThatIsNeededToDistinguishRows) {
  TextTable table =
      table_of({{"op", kName}, {"place", kName, 1}, {"kernel", kName, 2}, {"us", kFigure}});
  table.add_row({"mean", "xnn", "first kernel", "1"});
  table.add_row({"mean", "xnn", "second kernel", "1"});
  EXPECT_EQ(table.text(23, false),
            "op    kernel         us\n"
            "mean  first kernel    1\n"
            "mean  second kernel   1\n");
}

TEST(TextTable, DifferentNamesStayDifferentWhenCut) {
  TextTable table = table_of({{"module", kPath}, {"comment", kName}});
  for (const char* layer : {"0", "1", "27"}) {
    table.add_row({std::string("layers.") + layer + ".attention.rope.apply", "0123456789"});
    table.add_row({std::string("layers.") + layer + ".ffn.rope.apply", "0123456789"});
  }
  EXPECT_EQ(table.text(30, false),
            "module              comment\n"
            "…0…rope.apply       0123456789\n"
            "…0.ffn.rope.apply   0123456789\n"
            "…1…rope.apply       0123456789\n"
            "…1.ffn.rope.apply   0123456789\n"
            "…27…rope.apply      0123456789\n"
            "…27.ffn.rope.apply  0123456789\n");
}

TEST(TextTable, AbbreviatesEitherAllCellsOfAUniformColumnOrNone) {
  TextTable table = table_of({{"kernel", kUniform}, {"us", kFigure}});
  table.add_row({{"Convolution (NHWC, F32) IGEMM", "IGEMM f32"}, "1"});
  table.add_row({{"Add (ND)", "Add"}, "2"});
  EXPECT_EQ(table.text(40, false),
            "kernel                         us\n"
            "Convolution (NHWC, F32) IGEMM   1\n"
            "Add (ND)                        2\n");
  EXPECT_EQ(table.text(20, false),
            "kernel    us\n"
            "IGEMM f32  1\n"
            "Add        2\n");
}

TEST(TextTable, AbbreviatesColumnTitles) {
  TextTable table = table_of({{"op", kName}, {{"A p50 us", "A us"}, kFigure}});
  table.add_row({"add", "1"});
  EXPECT_EQ(table.text(14, false), "op   A p50 us\nadd         1\n");
  EXPECT_EQ(table.text(10, false), "op  A us\nadd    1\n");
}

TEST(TextTable, KeepsFiguresThatAreWiderThanTheTable) {
  TextTable table = table_of({{"op", kName}, {"us", kFigure}});
  table.add_row({"convolution", "123456789"});
  EXPECT_EQ(table.text(4, false), "…        us\n… 123456789\n");
}

TEST(TextTable, PrintsTotalLabelsEvenIfThereAreNoRows) {
  TextTable table = table_of({{"#", kFigure}, {"op", kName}, {"us", kFigure}});
  table.add_total({"3 rows filtered out", "filtered out"}, 1, {"12"}, 2);
  table.add_total({"wall"}, 1, {"345"}, 2);
  EXPECT_EQ(table.text(80, false),
            "  op                    us\n"
            "──────────────────────────\n"
            "  3 rows filtered out   12\n"
            "  wall                 345\n");
  EXPECT_EQ(table.text(24, false),
            "  op            us\n"
            "──────────────────\n"
            "  filtered out  12\n"
            "  wall         345\n");
}

TEST(TextTable, ColorsHighlightedRowsOnlyIfRequested) {
  EXPECT_THAT(sample_table().text(80, false), testing::Not(testing::HasSubstr("\x1b")));
  const std::string text = sample_table().text(80, true);
  EXPECT_THAT(text, testing::HasSubstr("\x1b[33m2  add"));
  EXPECT_THAT(text, testing::HasSubstr("1234.5\x1b[0m\n"));
  EXPECT_THAT(text, testing::HasSubstr("\n1  convolution"));
}

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

double last_digit(const Unit& unit) { return unit.ns * std::pow(10, -unit.decimals); }

// Times range from 1 us to 100 s.
TEST(NumberTexts, ChoosesUnitsThatShowThreeDigits) {
  for (double ns = 1e3; ns < 1e11; ns *= 1.37) {
    const Unit unit = unit_for(ns);
    const std::string text = unit.text(ns);
    EXPECT_GE(std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }), 3) << text;
    EXPECT_NEAR(std::stod(text) * unit.ns, ns, 0.501 * last_digit(unit)) << text;
    EXPECT_EQ(unit.with_name(ns), text + " " + unit.name);
  }
}

// Wall times range from 10 us to 100 s.
TEST(NumberTexts, RowTimesArePreciseToAThousandthOfTheWallTime) {
  for (double wall = 1e4; wall < 1e11; wall *= 1.37) {
    EXPECT_LE(last_digit(unit_for_rows(wall)), 1e-3 * wall) << wall;
  }
}

TEST(NumberTexts, FormatsCountsAndPercentages) {
  EXPECT_EQ(percent(0.125), "12.5");
  EXPECT_EQ(percent(1), "100.0");
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(2, "row"), "2 rows");
}

}  // namespace
}  // namespace vitrine::inspector
