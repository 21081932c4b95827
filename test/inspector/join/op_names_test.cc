#include "inspector/join/op_names.h"

#include <gtest/gtest.h>

namespace vitrine::inspector {
namespace {

TEST(OpNames, ShortensNamesAndFindsOpsOfKernels) {
  EXPECT_EQ(short_name("aten.convolution.default"), "convolution");
  EXPECT_EQ(short_name("aten._native_batch_norm_legit_no_training.default"), "batch_norm");
  EXPECT_EQ(short_name("quantized_decomposed.quantize_per_tensor.default"), "quantize");
  EXPECT_EQ(short_name("aten.view_copy.default"), "view");
  EXPECT_EQ(short_name("aten._softmax.default"), "softmax");
  EXPECT_EQ(short_name("dim_order_ops._to_dim_order_copy.default"), "to_dim_order");
  EXPECT_EQ(short_name("_operator.mul"), "mul");
  EXPECT_EQ(short_name("Conv2d"), "Conv2d");
  EXPECT_EQ(short_name("_"), "_");
  EXPECT_EQ(base_name("aten::max.dim_max"), "max");
  EXPECT_EQ(base_name("max.dim_max"), "max");
  EXPECT_EQ(base_name("aten.max.dim"), "max");
  EXPECT_EQ(op_of_kernel("aten::add.out"), "aten.add.out");
  EXPECT_EQ(op_of_kernel("add.out"), "aten.add.out");
  EXPECT_EQ(op_of_kernel("copy_"), "aten.copy_.default");
}

}  // namespace
}  // namespace vitrine::inspector
