#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text/text_layout.h"
#include "inspector/report/comparison_texts.h"
#include "inspector/report/difference_texts.h"
#include "inspector/report/row_texts.h"
#include "test/inspector/report/sample_profile.h"

namespace vitrine::inspector {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ProfileRow kernel_row(const std::string& op, const std::string& module) {
  ProfileRow row;
  row.library = "portable";
  row.kernel = "aten::" + op + ".out";
  row.source_ops = {"aten." + op + ".default"};
  row.modules = {module};
  return row;
}

// Returns a profile of one delegated operator, a convolution that includes a relu.
Profile folded() {
  Profile profile;
  ProfileRow& row = profile.rows.emplace_back(kernel_row("convolution", "net.conv"));
  row.where = Where::kDelegate;
  row.delegate = "XnnpackBackend";
  row.delegate_short_name = "xnn";
  row.partition = 0;
  row.folded_ops = {"aten.relu.default"};
  row.folded_modules = {"net.act"};
  return profile;
}

Profile kernels() {
  Profile profile;
  for (const char* op : {"convolution", "add", "add"}) {
    profile.rows.push_back(kernel_row(op, std::string("net.") + op));
  }
  return profile;
}

ComparedOp op_of(std::vector<size_t> rows_a, std::vector<size_t> rows_b) {
  ComparedOp op;
  op.rows_a = std::move(rows_a);
  op.rows_b = std::move(rows_b);
  return op;
}

TEST(ComparisonTexts, TakesNamesFromTheProgramThatHasOneRow) {
  for (const bool is_swapped : {false, true}) {
    const ComparedTexts texts = is_swapped
                                    ? compared_texts(op_of({0, 1, 2}, {0}), kernels(), folded())
                                    : compared_texts(op_of({0}, {0, 1, 2}), folded(), kernels());
    EXPECT_EQ(texts.op, "convolution + relu");
    EXPECT_EQ(texts.module, "net");
    EXPECT_EQ(is_swapped ? texts.place_b : texts.place_a, "xnn 0");
    EXPECT_EQ(is_swapped ? texts.place_a : texts.place_b, "portable x3");
  }
}

TEST(ComparisonTexts, RepeatedOpsArePrintedWithACount) {
  const ComparedTexts texts = compared_texts(op_of({}, {0, 1, 2}), folded(), kernels());
  EXPECT_EQ(texts.op, "convolution, add x2");
  EXPECT_EQ(texts.short_op, "convolution +2");
  EXPECT_EQ(texts.module, "net");
  EXPECT_EQ(texts.place_a, "") << "A has no row";
}

TEST(ComparisonTexts, LayoutChangesAreNamedAfterTheOpsThatNeedThem) {
  Profile profile = folded();
  ProfileRow& layout = profile.rows.emplace_back();
  layout.is_inserted = true;
  layout.inserted_for_row = 1;
  const ComparedTexts texts = compared_texts(op_of({1}, {}), profile, {});
  EXPECT_EQ(texts.op, "layout change for convolution");
  EXPECT_EQ(texts.module, "net");
}

TEST(ComparisonTexts, UnknownOpsAreNamedAfterTheirKernels) {
  Profile profile;
  profile.rows.emplace_back().kernel = "npu_payload_7";
  EXPECT_EQ(compared_texts(op_of({0}, {}), profile, {}).op, "npu_payload_7");
}

TEST(ComparisonTexts, HeadingOfAProgramShowsItsRecordFile) {
  Profile profile;
  profile.method = "forward";
  EXPECT_THAT(side_line("A  ", profile, {}, 100), HasSubstr("names: from the program alone"));
  profile.run.model = "net\x1b.pte";
  profile.run.record = "net.etrecord";
  EXPECT_EQ(side_line("A  ", profile, {"5 runs"}, 100),
            "A  net?.pte · forward · 5 runs · names: net.etrecord\n");
}

OutputDifference of_one_element() {
  return {.index = 3,
          .a = "f32[4]",
          .b = "f32[4]",
          .why_not = "",
          .figures = {
              .elements = 4, .max_abs = 0.5, .mean_abs = 0.125, .sqnr_db = 42, .mismatches = 1}};
}

TEST(DifferenceTexts, PrintsHowMuchAnOutputDiffers) {
  EXPECT_THAT(output_lines({of_one_element()}, 200),
              AllOf(HasSubstr("output 3"), HasSubstr("f32[4]"), HasSubstr("max diff 0.5"),
                    HasSubstr("mean diff 0.125"), HasSubstr("SQNR 42.0 dB"),
                    HasSubstr("1 of 4 elements differ")));
  OutputDifference same;
  same.a = same.b = "f32[4]";
  EXPECT_THAT(output_lines({same}, 200), HasSubstr("the same in all elements"));
}

TEST(DifferenceTexts, PrintsWhyOutputsAreNotCompared) {
  OutputDifference other;
  other.b = "f32[2\x1b]";
  other.why_not = "the shapes\ndiffer";
  EXPECT_THAT(output_lines({other}, 200),
              AllOf(HasSubstr("f32[2?]"), HasSubstr("not compared: the shapes?differ")));
  const auto object = output_json(other);
  EXPECT_EQ(object.at("not_compared"), other.why_not);
  EXPECT_FALSE(object.contains("max_abs"));
}

TEST(DifferenceTexts, WrapsLinesAtTheWidth) {
  const std::vector<std::string> lines = lines_of(output_lines({of_one_element()}, 40));
  EXPECT_GT(lines.size(), 1u);
  for (const std::string& line : lines) EXPECT_LE(display_width(line), 40u);
}

// JSON has no infinity, so the SQNR of equal tensors is null.
TEST(DifferenceTexts, WritesInfiniteFiguresAsJsonNull) {
  OutputDifference same;
  same.figures.elements = 4;
  const auto list = outputs_json({same, of_one_element()});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[0].at("sqnr_db").is_null());
  EXPECT_EQ(list[0].at("different"), 0);
  EXPECT_EQ(list[1].at("index"), 3);
  EXPECT_EQ(list[1].at("sqnr_db"), 42);
  EXPECT_EQ(list[1].at("elements"), 4);
}

TEST(CommonPath, ReturnsCommonComponents) {
  EXPECT_EQ(common_path({}), "");
  EXPECT_EQ(common_path({"", "a.b"}), "a.b");
  EXPECT_EQ(common_path({"features.0.0", "features.0.1", "features.0.2"}), "features.0");
  EXPECT_EQ(common_path({"a.b", "a.b.c"}), "a.b");
  EXPECT_EQ(common_path({"a.bc", "a.bd"}), "a");
  EXPECT_EQ(common_path({"a.b", "a.bc"}), "a");
  EXPECT_EQ(common_path({"conv1", "bn1"}), "");
}

TEST(RowTexts, KeepsTheMainModuleIfTheCommonModuleIsTooGeneral) {
  ProfileRow row;
  row.source_ops = {"aten.convolution.default"};
  row.modules = {"conv1"};
  row.folded_ops = {"aten.relu.default"};
  row.folded_modules = {"act"};
  EXPECT_EQ(row_texts(row).module, "conv1");
  row.modules = {"block.conv1"};
  row.folded_modules = {"block"};
  EXPECT_EQ(row_texts(row).module, "block");
  row.modules = {"net.block.conv1"};
  row.folded_modules = {"net"};
  EXPECT_EQ(row_texts(row).module, "net.block.conv1");
}

}  // namespace
}  // namespace vitrine::inspector
