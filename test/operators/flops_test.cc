#include "operators/flops.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>

namespace vitrine {
namespace {

using Sizes = std::vector<double>;

struct SampleCall : CallSizes {
  Sizes result;
  std::map<std::string_view, Sizes> tensors;
  std::map<std::string_view, std::vector<int64_t>> numbers;

  static double product(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), 1.0, std::multiplies<double>());
  }
  std::optional<double> result_elements() const override { return product(result); }
  std::optional<double> elements(std::string_view name) const override {
    const auto found = tensors.find(name);
    return found == tensors.end() ? std::nullopt : std::optional(product(found->second));
  }
  Sizes sizes(std::string_view name) const override {
    const auto found = tensors.find(name);
    return found == tensors.end() ? Sizes() : found->second;
  }
  std::vector<int64_t> integers(std::string_view name) const override {
    const auto found = numbers.find(name);
    return found == numbers.end() ? std::vector<int64_t>() : found->second;
  }
};

std::optional<double> count(const char* target, Sizes result,
                            std::map<std::string_view, Sizes> tensors,
                            std::map<std::string_view, std::vector<int64_t>> numbers = {}) {
  SampleCall call;
  call.result = std::move(result);
  call.tensors = std::move(tensors);
  call.numbers = std::move(numbers);
  return count_flops(*find_operator(target), call);
}

TEST(FlopsTest, MatrixProductsCountTwoFlopsPerMultiplyAdd) {
  EXPECT_EQ(count("aten.mm.default", {3, 7}, {{"self", {3, 5}}, {"mat2", {5, 7}}}),
            2.0 * 3 * 5 * 7);
  EXPECT_EQ(
      count("aten.addmm.default", {3, 7}, {{"self", {7}}, {"mat1", {3, 5}}, {"mat2", {5, 7}}}),
      2.0 * 3 * 5 * 7);
  EXPECT_EQ(count("aten.linear.default", {4, 8}, {{"input", {4, 16}}, {"weight", {8, 16}}}),
            2.0 * 4 * 8 * 16);
}

TEST(FlopsTest, TransposedConvolutionsCountFlopsPerInputElement) {
  const std::map<std::string_view, Sizes> tensors = {{"input", {1, 4, 6, 6}},
                                                     {"weight", {8, 2, 3, 3}}};
  EXPECT_EQ(count("aten.convolution.default", {1, 8, 5, 5}, tensors, {{"transposed", {0}}}),
            2.0 * 8 * 5 * 5 * 2 * 9);
  EXPECT_EQ(count("aten.convolution.default", {1, 8, 5, 5}, tensors, {{"transposed", {1}}}),
            2.0 * 4 * 6 * 6 * 2 * 9);
}

TEST(FlopsTest, SingleKernelSizeMeansASquareWindow) {
  const std::map<std::string_view, Sizes> tensors = {{"self", {1, 1, 6, 6}}};
  EXPECT_EQ(count("aten.avg_pool2d.default", {1, 1, 2, 2}, tensors, {{"kernel_size", {3}}}),
            4.0 * 9);
  EXPECT_EQ(count("aten.avg_pool2d.default", {1, 1, 2, 2}, tensors, {{"kernel_size", {3, 2}}}),
            4.0 * 6);
}

TEST(FlopsTest, NormsAndSoftmaxCountSeveralFlopsPerElement) {
  EXPECT_EQ(count("aten._softmax.default", {4, 10}, {{"self", {4, 10}}}), 5.0 * 40);
  EXPECT_EQ(count("aten.native_group_norm.default", {1, 4, 3, 3}, {{"input", {1, 4, 3, 3}}}),
            8.0 * 36);
}

TEST(FlopsTest, ReturnsNulloptWithoutARuleOrSizes) {
  EXPECT_EQ(count("aten.topk.default", {4}, {{"self", {40}}}), std::nullopt);
  EXPECT_EQ(count("aten.mm.default", {3, 7}, {}), std::nullopt);
  EXPECT_EQ(count("aten.view_copy.default", {16}, {{"self", {4, 4}}}), 0.0);
}

}  // namespace
}  // namespace vitrine
