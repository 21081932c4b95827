#include "inspector/join/order_match.h"

#include <gtest/gtest.h>

#include <string>

#include "backends/profiles/xnnpack_profile.h"

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

std::vector<OrderMatch> match(const std::vector<std::string_view>& kernels,
                              const std::vector<std::string_view>& ops) {
  return match_in_order(kernels, ops, xnnpack_profile());
}

TEST(OrderMatch, PairsKernelsWithOpsInOrder) {
  EXPECT_EQ(text(match({"Transpose (ND, X32) #1", "Convolution (NHWC, F32) IGEMM #1",
                        "Fully Connected (NC, F32) GEMM #1", "Transpose (ND, X32) #2"},
                       {"convolution", "relu", "convolution", "relu"})),
            "t 0 2 t ");
}

TEST(OrderMatch, MaximizesTheNumberOfPairs) {
  // If the clamp matched the first relu, the convolution could not be matched.
  EXPECT_EQ(text(match({"Convolution (NHWC, F32)", "Clamp (NC, F32)", "Sigmoid (NC, F32)"},
                       {"relu", "convolution", "relu", "sigmoid"})),
            "1 2 3 ");
}

TEST(OrderMatch, SeveralOperatorsCanMatchTheSameOp) {
  EXPECT_EQ(text(match({"Copy (NC, X32) #1", "Copy (NC, X32) #2"}, {"cat"})), "0 0 ");
  EXPECT_EQ(text(match({"Mean (ND) #1", "Mean (ND) Reduce2 #1"}, {"mean"})), "0 0 ");
}

TEST(OrderMatch, LeavesUnknownKernelsUnmatched) {
  EXPECT_EQ(text(match({"npu_blob_7", "Add (ND)"}, {"add", "mul"})), "- 0 ");
  EXPECT_EQ(text(match({"Add (ND)"}, {})), "- ");
  EXPECT_TRUE(match({}, {"add"}).empty());
}

TEST(OrderMatch, MatchesNothingIfThereAreTooManyOperators) {
  const std::vector<std::string_view> many(1 << 14, "Add (ND)"), ops(1 << 14, "add");
  for (const OrderMatch& match : match(many, ops)) EXPECT_FALSE(match.op.has_value());
}

}  // namespace
}  // namespace vitrine::inspector
