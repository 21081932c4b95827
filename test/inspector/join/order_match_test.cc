#include "inspector/join/order_match.h"

#include <gtest/gtest.h>

#include <string>

namespace vitrine::inspector {
namespace {

std::string text(const std::vector<OrderMatch>& matches) {
  std::string text;
  for (const OrderMatch& match : matches) {
    text += match.op.has_value() ? std::to_string(*match.op) : match.is_layout_change ? "t" : "-";
    text += ' ';
  }
  return text;
}

TEST(OrderMatch, PairsKernelsWithOpsInOrder) {
  EXPECT_EQ(text(match_in_order({"Transpose (ND, X32) #1", "Convolution (NHWC, F32) IGEMM #1",
                                 "Fully Connected (NC, F32) GEMM #1", "Transpose (ND, X32) #2"},
                                {"convolution", "relu", "convolution", "relu"})),
            "t 0 2 t ");
}

TEST(OrderMatch, FindsAsManyPairsAsThereCanBe) {
  // Taking the first clamp for the first relu leaves none for the convolution between.
  EXPECT_EQ(text(match_in_order({"Convolution (NHWC, F32)", "Clamp (NC, F32)", "Sigmoid (NC, F32)"},
                                {"relu", "convolution", "relu", "sigmoid"})),
            "1 2 3 ");
}

TEST(OrderMatch, AnOperatorMoreOfANodeSharesItsOp) {
  EXPECT_EQ(text(match_in_order({"Copy (NC, X32) #1", "Copy (NC, X32) #2"}, {"cat"})), "0 0 ");
  EXPECT_EQ(text(match_in_order({"Mean (ND) #1", "Mean (ND) Reduce2 #1"}, {"mean"})), "0 0 ");
}

TEST(OrderMatch, LeavesAloneWhatItDoesNotKnow) {
  EXPECT_EQ(text(match_in_order({"npu_blob_7", "Add (ND)"}, {"add", "mul"})), "- 0 ");
  EXPECT_EQ(text(match_in_order({"Add (ND)"}, {})), "- ");
  EXPECT_TRUE(match_in_order({}, {"add"}).empty());
}

TEST(OrderMatch, RefusesTablesWithoutBound) {
  const std::vector<std::string_view> many(1 << 14, "Add (ND)"), ops(1 << 14, "add");
  for (const OrderMatch& match : match_in_order(many, ops)) EXPECT_FALSE(match.op.has_value());
}

TEST(OrderMatch, KernelNamesAreWholeWords) {
  EXPECT_TRUE(may_run("Add (ND)", "add"));
  EXPECT_FALSE(may_run("Additive (ND)", "add"));
  EXPECT_TRUE(may_run("Unary Elementwise (NC)", "sigmoid"));
  EXPECT_FALSE(may_run("Unary Elementwise (NC)", "add"));
}

}  // namespace
}  // namespace vitrine::inspector
