// Tests that optimized kernels pack constant weights once.

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/optimized/simd/gemm.h"
#include "runtime/extension/derived_data.h"
#include "test/kernels/kernel_comparison.h"

namespace vitrine {
namespace {

using namespace test;

// Convolves one image with 3 x 3 filters, which may be constant.
class PackedConvolution : public testing::Test {
 protected:
  PackedConvolution() {
    call_.registry = &optimized_kernels();
    call_.derived = &derived_;
    plain_.set_read_only();
  }

  // Convolves the image with `filters`, and returns the first element of the result.
  float convolve(Tensor& filters) {
    Tensor& out = call_.make(ScalarType::kFloat, {1, 16, 4, 4});
    EXPECT_TRUE(succeeds(call_.run("aten::convolution.out", image_, filters, KernelCall::none(),
                                   call_.ints({1, 1}), call_.ints({1, 1}), call_.ints({1, 1}),
                                   false, call_.ints({0, 0}), 1, out)));
    return *out.data<float>();
  }
  Tensor& ones(std::vector<int32_t> sizes) {
    Tensor& tensor = call_.make(ScalarType::kFloat, std::move(sizes));
    std::fill_n(tensor.mutable_data<float>(), tensor.numel(), 1.0F);
    return tensor;
  }
  size_t packed_bytes() const {
    DelegateMemory memory;
    derived_.report_memory(memory);
    return memory.bytes(DelegateMemory::Kind::kPackedWeights);
  }

  static constexpr size_t kFilterBytes = size_t{16} * 8 * 9 * sizeof(float);
  static constexpr float kSum = 8 * 4;  // the window at a corner covers 4 pixels of 8 channels
  KernelCall call_;
  Budget budget_{100'000};
  DerivedData derived_{budget_};
  Tensor& image_ = ones({1, 8, 4, 4});
  Tensor& plain_ = ones({16, 8, 3, 3});
};

TEST_F(PackedConvolution, PacksConstantWeightsOnce) {
  plain_.set_constant();
  EXPECT_EQ(convolve(plain_), kSum);
  const size_t packed = packed_bytes();
  EXPECT_GE(packed, kFilterBytes);
  EXPECT_EQ(budget_.used(), packed);
  Tensor alias = plain_;  // another value with the same weights
  EXPECT_EQ(convolve(alias), kSum);
  EXPECT_EQ(packed_bytes(), packed);
}

TEST_F(PackedConvolution, DoesNotPackWeightsThatMayChange) {
  EXPECT_EQ(convolve(plain_), kSum);
  std::fill_n(plain_.unchecked_mutable_data<float>(), plain_.numel(), 2.0F);
  EXPECT_EQ(convolve(plain_), 2 * kSum);
  EXPECT_EQ(packed_bytes(), 0U);
}

TEST_F(PackedConvolution, PacksOnlyIfHalfOfTheBudgetStaysFree) {
  plain_.set_constant();
  const uint64_t rest = budget_.left() - kFilterBytes * 3 / 2;
  ASSERT_TRUE(budget_.take(rest));
  EXPECT_EQ(convolve(plain_), kSum);
  EXPECT_EQ(packed_bytes(), 0U);
  budget_.give_back(rest);
  EXPECT_EQ(convolve(plain_), kSum);
  EXPECT_GE(packed_bytes(), kFilterBytes);
}

// The lines are shorter than most vectors, so that most targets compute vectors of channels.
TEST_F(PackedConvolution, OrdersDepthwiseWeightsOnce) {
  Tensor& image = ones({1, 32, 3, 3});
  Tensor& filters = ones({32, 1, 3, 3});
  for (int32_t i = 0; i < filters.numel(); ++i) {
    filters.mutable_data<float>()[i] = static_cast<float>(i / 9 + i % 9);
  }
  filters.set_read_only();
  filters.set_constant();
  size_t packed = 0;
  for (const bool is_first : {true, false}) {
    Tensor& out = call_.make(ScalarType::kFloat, {1, 32, 3, 3});
    ASSERT_TRUE(succeeds(call_.run("aten::convolution.out", image, filters, KernelCall::none(),
                                   call_.ints({1, 1}), call_.ints({1, 1}), call_.ints({1, 1}),
                                   false, call_.ints({0, 0}), 32, out)));
    for (int c = 0; c < 32; ++c) {  // the window at the first corner covers taps 4, 5, 7 and 8
      ASSERT_EQ(out.data<float>()[c * 9], static_cast<float>(4 * c + 4 + 5 + 7 + 8)) << c;
      ASSERT_EQ(out.data<float>()[c * 9 + 4], static_cast<float>(9 * c + 36)) << c;
    }
    if (is_first) {
      packed = packed_bytes();
      if (optimized::simd::gemm_shape().lanes > 3) {
        EXPECT_GE(packed, 32 * 9 * sizeof(float));
      }
    }
  }
  EXPECT_EQ(packed_bytes(), packed);
}

class PackedProduct : public testing::Test {
 protected:
  PackedProduct() {
    call_.registry = &optimized_kernels();
    call_.derived = &derived_;
    for (int i = 0; i < kOutputs * kDepth; ++i) weight_.mutable_data<float>()[i] = weight_at(i);
    std::fill_n(input_.mutable_data<float>(), input_.numel(), 1.0F);
    std::fill_n(bias_.mutable_data<float>(), kOutputs, 2.0F);
    weight_.set_read_only();
  }

  static float weight_at(int i) { return static_cast<float>(i % kDepth + i / kDepth); }
  // Calls aten::linear with an input of ones. Expects each result to be the sum of its weights, the
  // bias and `more`.
  void expect_sums(float more = 0) {
    Tensor& out = call_.make(ScalarType::kFloat, {kRows, kOutputs});
    ASSERT_TRUE(succeeds(call_.run("aten::linear.out", input_, weight_, bias_, out)));
    for (int i = 0; i < kRows * kOutputs; ++i) {
      const int row = i % kOutputs;
      const int sum = kDepth * (kDepth - 1) / 2 + kDepth * row + 2;
      ASSERT_EQ(out.data<float>()[i], static_cast<float>(sum) + more) << i;
    }
  }

  static constexpr int kRows = 11;
  static constexpr int kOutputs = 53;
  static constexpr int kDepth = 40;
  KernelCall call_;
  Budget budget_{100'000};
  DerivedData derived_{budget_};
  Tensor& input_ = call_.make(ScalarType::kFloat, {kRows, kDepth});
  Tensor& weight_ = call_.make(ScalarType::kFloat, {kOutputs, kDepth});
  Tensor& bias_ = call_.make(ScalarType::kFloat, {kOutputs});
};

TEST_F(PackedProduct, PacksConstantWeightsOnce) {
  weight_.set_constant();
  expect_sums();
  const uint64_t packed = budget_.used();
  EXPECT_GE(packed, weight_.nbytes());
  expect_sums();
  EXPECT_EQ(budget_.used(), packed);
}

TEST_F(PackedProduct, DoesNotPackWeightsThatMayChange) {
  expect_sums();
  for (int i = 0; i < kOutputs; ++i) weight_.unchecked_mutable_data<float>()[i * kDepth] += 1;
  expect_sums(1);
  EXPECT_EQ(budget_.used(), 0U);
}

TEST_F(PackedProduct, PacksNothingIfTheBudgetIsTooSmall) {
  weight_.set_constant();
  ASSERT_TRUE(budget_.take(budget_.left() - weight_.nbytes()));
  const uint64_t used = budget_.used();
  expect_sums();
  EXPECT_EQ(budget_.used(), used);
}

}  // namespace
}  // namespace vitrine
