#include "backends/xnnpack/profile/kernel_names.h"

#include <gtest/gtest.h>

namespace vitrine::xnnpack {
namespace {

TEST(KernelNames, MatchCompleteWordsOnly) {
  EXPECT_TRUE(may_run("Add (ND)", "add"));
  EXPECT_FALSE(may_run("Additive (ND)", "add"));
  EXPECT_TRUE(may_run("Unary Elementwise (NC)", "sigmoid"));
  EXPECT_FALSE(may_run("Unary Elementwise (NC)", "add"));
}

}  // namespace
}  // namespace vitrine::xnnpack
