#include "tools/common/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>

#include "tools/common/tool_error.h"

namespace vitrine::tools {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::Ge;
using testing::Lt;

constexpr std::array<int32_t, 4> kSizes = {1, 2, 2, 3};
constexpr std::array<uint8_t, 4> kChannelsLast = {0, 2, 3, 1};

TEST(TensorsTest, RowMajorBytesIgnoreTheDimOrder) {
  Array array = zeros_like({ScalarType::kFloat, kSizes, kChannelsLast, ShapeDynamism::kStatic,
                            12 * sizeof(float), true});
  std::array<float, 12> numbers;
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const auto bytes = std::as_bytes(std::span(numbers));
  check(array.copy_from(bytes));
  EXPECT_NE(std::memcmp(array.bytes().data(), bytes.data(), bytes.size()), 0);
  EXPECT_THAT(row_major_bytes(array.tensor()), testing::ElementsAreArray(bytes));
}

TEST(TensorsTest, RowMajorBytesRejectsATensorWithoutData) {
  EXPECT_TRUE(row_major_bytes(Tensor()).empty());
  Array array = check(Array::zeros(ScalarType::kFloat, {2}));
  array.mutable_tensor().set_data(nullptr);
  EXPECT_THROW(row_major_bytes(array.tensor()), ToolError);
}

TEST(TensorsTest, FillRandomUsesTheRangeOfTheDtype) {
  std::mt19937_64 generator(7);
  Array floats = check(Array::zeros(ScalarType::kFloat, {1000}));
  fill_random(floats, generator);
  EXPECT_THAT(*floats.data<float>(), Each(AllOf(Ge(-1), Lt(1))));
  EXPECT_THAT(*floats.data<float>(), testing::Contains(Lt(-0.5F)));
  Array indices = check(Array::zeros(ScalarType::kLong, {1000}));
  fill_random(indices, generator);
  EXPECT_THAT(*indices.data<int64_t>(), Each(AnyOf(0, 1)));
  EXPECT_THAT(*indices.data<int64_t>(), testing::Contains(1));
}

}  // namespace
}  // namespace vitrine::tools
