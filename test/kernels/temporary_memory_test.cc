// Tests that kernels reuse temporary memory for each batch, group, line, or part of the weights.

#include <cstring>

#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {
namespace {

class TemporaryMemory : public testing::Test {
 protected:
  TemporaryMemory() {
    call.use_threads();
    call.registry = &optimized_kernels();
    for (const char* op : {"aten::bmm.out", "aten::convolution.out", "aten::linear.out",
                           "aten::upsample_bilinear2d.vec_out"}) {
      EXPECT_STREQ(call.registry->find(op).table, "optimized") << op;
    }
  }

  Tensor& zeros(std::vector<int32_t> sizes) {
    Tensor& tensor = call.make(dtype, std::move(sizes));
    std::memset(tensor.mutable_raw_data(), 0, tensor.nbytes());
    return tensor;
  }
  size_t bmm_memory(int32_t batch) {
    EXPECT_TRUE(succeeds(call.run("aten::bmm.out", zeros({batch, 49, 32}), zeros({batch, 32, 49}),
                                  zeros({batch, 49, 49}))));
    return call.temporary_bytes;
  }
  // Returns the temporary bytes of a convolution with 16 input and 16 output channels per group.
  size_t convolution_memory(int32_t batch, int32_t groups, bool transposed) {
    const int32_t channels = 16 * groups;
    EXPECT_TRUE(succeeds(call.run(
        "aten::convolution.out", zeros({batch, channels, 8, 8}), zeros({channels, 16, 3, 3}),
        KernelCall::none(), call.ints({1, 1}), call.ints({1, 1}), call.ints({1, 1}), transposed,
        call.ints({0, 0}), groups, zeros({batch, channels, 8, 8}))));
    return call.temporary_bytes;
  }
  // Returns the bytes that float copies of the convolution's tensors need, or 0 if the tensors are
  // floats already.
  size_t copies(int32_t batch, int32_t groups) const {
    if (dtype == ScalarType::kFloat) return 0;
    const auto channels = static_cast<size_t>(16 * groups);
    return sizeof(float) * (2 * static_cast<size_t>(batch) * channels * 64 + channels * 16 * 9);
  }

  KernelCall call;
  ScalarType dtype = ScalarType::kFloat;
};

constexpr ScalarType kDtypes[] = {ScalarType::kFloat, ScalarType::kHalf, ScalarType::kBFloat16};

TEST_F(TemporaryMemory, ProductMemoryDoesNotGrowWithBatchesImagesOrGroups) {
  for (const ScalarType tested : kDtypes) {
    SCOPED_TRACE(scalar_type_name(tested));
    dtype = tested;
    EXPECT_LT(bmm_memory(64), 2 * bmm_memory(1));
    for (const bool transposed : {false, true}) {
      const size_t one = convolution_memory(1, 1, transposed);
      EXPECT_LT(convolution_memory(64, 1, transposed), 2 * one + copies(64, 1)) << transposed;
      EXPECT_LT(convolution_memory(1, 64, transposed), 2 * one + copies(1, 64)) << transposed;
    }
  }
}

// The kernel has two lines per thread in temporary memory. The number of lines does not depend on
// the height of the image.
TEST_F(TemporaryMemory, ResamplingMemoryDoesNotGrowWithImageSize) {
  const auto image_memory = [&](int32_t height) {
    EXPECT_TRUE(succeeds(call.run("aten::upsample_bilinear2d.vec_out", zeros({1, 1, height, 500}),
                                  call.ints({2 * height, 1000}), false, KernelCall::none(),
                                  zeros({1, 1, 2 * height, 1000}))));
    return call.temporary_bytes;
  };
  EXPECT_EQ(image_memory(500), image_memory(5));
}

// The kernel converts only a part of the weights to float at a time.
TEST_F(TemporaryMemory, LinearUsesLessMemoryThanItsF16OrBf16Weights) {
  for (const ScalarType tested : {ScalarType::kHalf, ScalarType::kBFloat16}) {
    dtype = tested;
    for (const int32_t rows : {1, 3, 32}) {
      Tensor& weight = zeros({2000, 500});
      EXPECT_TRUE(succeeds(call.run("aten::linear.out", zeros({rows, 500}), weight, zeros({2000}),
                                    zeros({rows, 2000}))));
      EXPECT_LT(call.temporary_bytes, weight.nbytes()) << rows << scalar_type_name(tested);
    }
  }
}

}  // namespace
}  // namespace vitrine::test
