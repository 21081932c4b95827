#include "vitrine/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "test/support/results.h"

namespace vitrine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array kNumbers = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F};

TEST(Array, CopiesElements) {
  auto array = test::require(Array::copy_of<float>(kNumbers, {2, 3}));
  EXPECT_THAT(array.sizes(), ElementsAre(2, 3));
  EXPECT_THAT(*array.data<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(array.owns_memory());
  EXPECT_NE(array.data<float>()->data(), kNumbers.data());
}

TEST(Array, BorrowsMemory) {
  std::array<int64_t, 4> memory = {1, 2, 3, 4};
  auto array = test::require(Array::borrow<int64_t>(memory, {2, 2}));
  (*array.mutable_data<int64_t>())[3] = 9;
  EXPECT_EQ(memory[3], 9);
  EXPECT_FALSE(array.owns_memory());
}

TEST(Array, CopiesShareMemoryUntilTheLastIsDestroyed) {
  Array kept;
  {
    auto array = test::require(Array::copy_of<float>(kNumbers, {6}));
    kept = array;
    (*array.mutable_data<float>())[0] = 7;
  }
  EXPECT_THAT(*kept.data<float>(), ElementsAre(7, 2, 3, 4, 5, 6));
}

TEST(Array, ZerosAcceptsEmptyShapesAndScalars) {
  auto array = test::require(Array::zeros(ScalarType::kInt, {2, 0}));
  EXPECT_EQ(array.numel(), 0);
  auto scalar = test::require(Array::zeros(ScalarType::kInt, std::span<const int32_t>()));
  EXPECT_THAT(*scalar.data<int32_t>(), ElementsAre(0));
}

TEST(Array, CopiesOfChannelsLastTensorsAreRowMajor) {
  // Channels last: element (c, h, w) of sizes {1, 2, 1, 3} is at w * 2 + c.
  std::array<int32_t, 4> sizes = {1, 2, 1, 3};
  std::array<uint8_t, 4> order = {0, 2, 3, 1};
  std::array<int64_t, 4> strides{};
  std::array<float, 6> memory = {0, 10, 1, 11, 2, 12};
  const Tensor tensor(ScalarType::kFloat, sizes, order, strides, memory.data());
  auto array = test::require(Array::copy_of(tensor));
  EXPECT_THAT(*array.data<float>(), ElementsAre(0, 1, 2, 10, 11, 12));
}

TEST(Array, CopiesFromRowMajorElementsToAnyDimOrder) {
  constexpr std::array<uint8_t, 4> kChannelsLast = {0, 2, 3, 1};
  auto array = test::require(Array::zeros(ScalarType::kFloat, {1, 2, 1, 3}, kChannelsLast));
  EXPECT_THAT(*array.data<float>(), testing::Each(0));
  EXPECT_THAT(array.tensor().dim_order(), testing::ElementsAreArray(kChannelsLast));
  EXPECT_TRUE(array.tensor().has_slack());
  ASSERT_TRUE(array.copy_from(std::as_bytes(std::span(kNumbers))).ok());
  // Element (c, w) has index 3 * c + w in row-major order and w * 2 + c in memory.
  EXPECT_THAT(*array.data<float>(), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(*Array::copy_of(array.tensor())->data<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Array, RejectsWrongNumberOfElements) {
  auto array = Array::zeros(ScalarType::kInt, {2});
  const std::array<int32_t, 3> numbers = {1, 2, 3};
  const auto bytes = std::as_bytes(std::span(numbers));
  EXPECT_THAT(
      array->copy_from(bytes),
      test::FailsWith(ErrorCode::kInvalidArgument, HasSubstr("the array needs 8 bytes, got 12")));
  EXPECT_THAT(*array->data<int32_t>(), ElementsAre(0, 0));
  ASSERT_TRUE(array->copy_from(bytes.first(8)).ok());
  EXPECT_THAT(*array->data<int32_t>(), ElementsAre(1, 2));
  Array empty;
  EXPECT_TRUE(empty.copy_from({}).ok());
  EXPECT_FALSE(empty.copy_from(bytes).ok());
}

TEST(Array, RejectsDimOrdersThatAreNotPermutations) {
  const std::vector<std::vector<uint8_t>> wrong = {{0}, {0, 1, 2}, {1, 1}, {0, 2}};
  for (const std::vector<uint8_t>& order : wrong) {
    EXPECT_THAT(
        Array::zeros(ScalarType::kInt, {2, 2}, order),
        test::FailsWith(ErrorCode::kInvalidArgument, HasSubstr("each of the 2 dimensions once")));
  }
}

TEST(Array, ReportsInvalidArguments) {
  const auto message = [](auto result) { return std::string(result.take_error().message()); };
  EXPECT_THAT(message(Array::copy_of<float>(kNumbers, {7})), HasSubstr("needs 28 bytes, got 24"));
  EXPECT_THAT(message(Array::zeros(ScalarType::kFloat, {-1})), HasSubstr("-1"));
  EXPECT_THAT(message(Array::zeros(static_cast<ScalarType>(77), {1})), HasSubstr("77"));
  EXPECT_THAT(message(Array::zeros(ScalarType::kByte, std::vector<int32_t>(17, 1))),
              HasSubstr("at most 16 dimensions, got 17"));
  // 2^62 elements of 8 bytes.
  EXPECT_THAT(message(Array::zeros(ScalarType::kDouble, {1 << 30, 1 << 30, 4})),
              HasSubstr("overflow"));
  std::array<std::byte, 16> bytes{};
  EXPECT_THAT(message(Array::borrow(ScalarType::kFloat, std::span(bytes).subspan(1, 8), {2})),
              HasSubstr("not aligned"));
  auto array = Array::copy_of<float>(kNumbers, {6});
  EXPECT_THAT(message(array->data<int32_t>()), HasSubstr("f32, not i32"));
}

TEST(Array, EmptyArrayHasNoElements) {
  Array empty;
  EXPECT_EQ(empty.numel(), 0);
  EXPECT_EQ(empty.dtype(), ScalarType::kByte);
  EXPECT_TRUE(empty.sizes().empty());
  EXPECT_TRUE(empty.bytes().empty());
  EXPECT_TRUE(empty.mutable_bytes().empty());
  EXPECT_FALSE(empty.owns_memory());
  EXPECT_EQ(empty.data<uint8_t>().error().code(), ErrorCode::kInvalidState);
  EXPECT_EQ(empty.mutable_data<float>().error().code(), ErrorCode::kInvalidState);
}

TEST(Array, AcceptsUnsignedIntegers) {
  constexpr std::array<uint16_t, 2> kSmall = {1, 65535};
  constexpr std::array<uint32_t, 2> kWide = {1, 4000000000};
  constexpr std::array<uint64_t, 2> kLong = {1, 1ULL << 63};
  EXPECT_EQ(Array::copy_of<uint16_t>(kSmall, {2})->dtype(), ScalarType::kUInt16);
  EXPECT_EQ(Array::copy_of<uint64_t>(kLong, {2})->dtype(), ScalarType::kUInt64);
  const auto wide = Array::copy_of<uint32_t>(kWide, {2});
  EXPECT_EQ(wide->dtype(), ScalarType::kUInt32);
  EXPECT_THAT(*wide->data<uint32_t>(), ElementsAre(1, 4000000000));
}

TEST(Array, ReportsFailedAllocation) {
  const auto array = Array::zeros(ScalarType::kByte, {1 << 30, 1 << 28});
  ASSERT_FALSE(array.ok());
  // A 32-bit size_t cannot represent the size, so the argument is invalid.
  EXPECT_EQ(array.error().code(),
            sizeof(size_t) == 8 ? ErrorCode::kMemoryAllocationFailed : ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace vitrine
