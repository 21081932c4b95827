#include "backends/profiles/xnnpack_kernel_names.h"

#include <gtest/gtest.h>

namespace vitrine::xnnpack {
namespace {

TEST(KernelNames, MatchCompleteWordsOnly) {
  EXPECT_TRUE(may_run("Add (ND)", "add"));
  EXPECT_FALSE(may_run("Additive (ND)", "add"));
  EXPECT_TRUE(may_run("Vitrine Max Pooling (NHWC, F32)", "max_pool2d"));
  EXPECT_TRUE(may_run("Vitrine Batch Norm (NHWC, F32)", "_native_batch_norm_legit_no_training"));
  EXPECT_TRUE(may_run("Unary Elementwise (NC)", "sigmoid"));
  EXPECT_FALSE(may_run("Unary Elementwise (NC)", "add"));
}

TEST(KernelNames, ShortNamesKeepAlgorithmDtypesAndNumber) {
  EXPECT_EQ(short_kernel_name("Fully Connected (NC, F32) GEMM"), "GEMM f32");
  EXPECT_EQ(short_kernel_name("Fully Connected (NC, QDU8, F32, QB4W) GEMM #12"),
            "GEMM qdu8-f32-qb4w #12");
  EXPECT_EQ(short_kernel_name("Batch Matrix Multiply (NC, F32) GEMM"), "GEMM f32");
  EXPECT_EQ(short_kernel_name("Convolution (NHWC, QC8) DWConv"), "DWConv qc8");
  EXPECT_EQ(short_kernel_name("Convolution (NHWC, F32)"), "Convolution f32");
  EXPECT_EQ(short_kernel_name("Convolution (NHWC, F32) #3"), "Convolution f32 #3");
  EXPECT_EQ(short_kernel_name("Deconvolution (NHWC, F32) IGEMM"), "Deconvolution IGEMM f32");
  EXPECT_EQ(short_kernel_name("Mean (ND) Reduce2 #1"), "Mean Reduce2 #1");
  EXPECT_EQ(short_kernel_name("Transpose (ND, X32)"), "Transpose x32");
  EXPECT_EQ(short_kernel_name("Add (ND)"), "Add");
  EXPECT_EQ(short_kernel_name("Unary Elementwise"), "Unary Elementwise");
  for (const char* name : {"", "(", " (", " ()", ")(", "a (", "Convolution (,,) ", "a (b) #"}) {
    (void)short_kernel_name(name);  // names come from files
  }
  EXPECT_EQ(short_kernel_name("a (b"), "a (b");
}

}  // namespace
}  // namespace vitrine::xnnpack
