#include "inspector/report/comparison_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace vitrine::inspector {
namespace {

using testing::HasSubstr;

ProfileRow kernel_row(const std::string& op, const std::string& module) {
  ProfileRow row;
  row.library = "portable";
  row.kernel = "aten::" + op + ".out";
  row.source_ops = {"aten." + op + ".default"};
  row.modules = {module};
  return row;
}

// A profile with one operator. The op of a second kernel is folded into this operator.
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

TEST(ComparisonTexts, UsesNamesFromTheProgramWithASingleRow) {
  ComparedOp op;
  op.rows_a = {0};
  op.rows_b = {0, 1, 2};
  for (const bool is_swapped : {false, true}) {
    if (is_swapped) std::swap(op.rows_a, op.rows_b);
    const ComparedTexts texts = is_swapped ? compared_texts(op, kernels(), folded())
                                           : compared_texts(op, folded(), kernels());
    EXPECT_EQ(texts.op, "convolution + relu");
    EXPECT_EQ(texts.module, "net");
    EXPECT_EQ(is_swapped ? texts.place_b : texts.place_a, "xnn 0");
    EXPECT_EQ(is_swapped ? texts.place_a : texts.place_b, "portable x3");
  }
}

TEST(ComparisonTexts, RepeatedOpsArePrintedWithACount) {
  ComparedOp op;
  op.rows_b = {0, 1, 2};
  const ComparedTexts texts = compared_texts(op, folded(), kernels());
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
  ComparedOp op;
  op.rows_a = {1};
  const ComparedTexts texts = compared_texts(op, profile, {});
  EXPECT_EQ(texts.op, "layout change for convolution");
  EXPECT_EQ(texts.module, "net");
}

TEST(ComparisonTexts, UnknownOpsAreNamedAfterTheirKernels) {
  Profile profile;
  profile.rows.emplace_back().kernel = "npu_payload_7";
  ComparedOp op;
  op.rows_a = {0};
  EXPECT_EQ(compared_texts(op, profile, {}).op, "npu_payload_7");
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

}  // namespace
}  // namespace vitrine::inspector
