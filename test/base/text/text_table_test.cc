#include "base/text/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace vitrine::inspector {
namespace {

TextTable sample_table() {
  TextTable table;
  table.add_column("#", TextTable::Kind::kFigure);
  table.add_column("op", TextTable::Kind::kName);
  table.add_column("nothing", TextTable::Kind::kName);
  table.add_column("module", TextTable::Kind::kPath);
  table.add_column("us", TextTable::Kind::kFigure);
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

TEST(TextTable, WidensTheLabelColumnForTotals) {
  TextTable table;
  table.add_column("op", TextTable::Kind::kName);
  table.add_column("rows", TextTable::Kind::kFigure);
  table.add_column("us", TextTable::Kind::kFigure);
  table.add_row({{"add"}, {"2"}, {"1"}});
  table.add_total({"inputs and logits"}, 0, {"345"}, 2);
  EXPECT_EQ(table.text(80, false),
            "op           rows   us\n"
            "add             2    1\n"
            "──────────────────────\n"
            "inputs and logits  345\n");
}

using Kind = TextTable::Kind;

TEST(TextTable, DropsColumnsByRankBeforeItCutsNames) {
  TextTable table;
  table.add_column("op", Kind::kName);
  table.add_column("module", Kind::kPath);
  table.add_column("kernel", Kind::kName, 1);
  table.add_column("us", Kind::kFigure);
  table.add_column("cum %", Kind::kFigure, 2);
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
  TextTable table;
  table.add_column("op", Kind::kName);
  table.add_column("place", Kind::kName, 1);
  table.add_column("kernel", Kind::kName, 2);
  table.add_column("us", Kind::kFigure);
  table.add_row({"mean", "xnn", "first kernel", "1"});
  table.add_row({"mean", "xnn", "second kernel", "1"});
  EXPECT_EQ(table.text(23, false),
            "op    kernel         us\n"
            "mean  first kernel    1\n"
            "mean  second kernel   1\n");
}

TEST(TextTable, DifferentNamesStayDifferentWhenCut) {
  TextTable table;
  table.add_column("module", Kind::kPath);
  table.add_column("comment", Kind::kName);
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

TEST(TextTable, AbbreviatesAllCellsOfAUniformColumnOrNone) {
  TextTable table;
  table.add_column("kernel", Kind::kUniform);
  table.add_column("us", Kind::kFigure);
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
  TextTable table;
  table.add_column("op", Kind::kName);
  table.add_column({"A p50 us", "A us"}, Kind::kFigure);
  table.add_row({"add", "1"});
  EXPECT_EQ(table.text(14, false), "op   A p50 us\nadd         1\n");
  EXPECT_EQ(table.text(10, false), "op  A us\nadd    1\n");
}

TEST(TextTable, KeepsFiguresThatAreWiderThanTheTable) {
  TextTable table;
  table.add_column("op", Kind::kName);
  table.add_column("us", Kind::kFigure);
  table.add_row({"convolution", "123456789"});
  EXPECT_EQ(table.text(4, false), "…        us\n… 123456789\n");
}

TEST(TextTable, PrintsTotalLabelsEvenIfThereAreNoRows) {
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

}  // namespace
}  // namespace vitrine::inspector
